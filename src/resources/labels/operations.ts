import { z } from 'zod'
import { listPage } from '../../listing/pages.ts'
import { label } from '../../model/label.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { itemList } from '../included.ts'
import { atLeastOne, deleted, operation } from '../operation.ts'
import { beginRemoval } from '../removals.ts'
import { labelTarget, parentBoard } from '../targets.ts'
import { createResource, removeResource, saveResource } from '../writes.ts'
import { color } from '../../model/board.ts'
import { limits } from '../../model/limits.ts'
import { nameLine } from '../../model/text.ts'

const labelCreate = z.strictObject({
  name: nameLine(limits.labelName, 'The name of the label.'),
  color: color.describe('The color of the label, as `#rrggbb`.'),
})
const labelUpdate = labelCreate.partial()

/** Labels of a board (spec §5: rows P2, P11; our extension: row X4). */
export const labelOperations = [
  operation({
    id: 'labels.list',
    method: 'GET',
    path: '/boards/{board_id}/labels',
    summary: 'Lists the labels of a board, oldest first.',
    needs: ['read', 'Label'],
    row: 'P2',
    ...itemList('labels.list', label),
    target: parentBoard,
    run: ({ tx, query }, { board }) => listPage(tx, 'labels.list', indexes.labels(board.id), query),
  }),

  operation({
    id: 'labels.read',
    method: 'GET',
    path: '/labels/{label_id}',
    summary: 'Returns a label.',
    needs: ['read', 'Label'],
    row: 'P2',
    data: label,
    target: labelTarget,
    run: (_request, loaded) => ({ data: loaded.label }),
  }),

  operation({
    id: 'labels.create',
    method: 'POST',
    path: '/boards/{board_id}/labels',
    summary: 'Creates a label for the cards of a board.',
    needs: ['create', 'Label'],
    row: 'P11',
    body: labelCreate,
    data: label,
    status: 201,
    capacity: ['labelsPerBoard', indexes.labels],
    example: { body: { name: 'Bug', color: '#d73a4a' } },
    target: parentBoard,
    run: (request, { board }) => createResource(request, 'label', keys.label, { board_id: board.id, ...request.body }),
  }),

  operation({
    id: 'labels.update',
    method: 'PATCH',
    path: '/labels/{label_id}',
    summary: 'Changes the name or the color of a label.',
    needs: ['update', 'Label'],
    row: 'X4',
    body: atLeastOne(labelUpdate),
    data: label,
    example: { body: { name: 'Defect' } },
    target: labelTarget,
    run: (request, loaded) => saveResource(request, keys.label, loaded.label, request.body),
  }),

  operation({
    id: 'labels.delete',
    method: 'DELETE',
    path: '/labels/{label_id}',
    summary: 'Deletes a label, and removes it from all cards.',
    needs: ['delete', 'Label'],
    row: 'P11',
    data: deleted,
    target: labelTarget,
    async run(request, loaded) {
      await beginRemoval(request, { kind: 'label', label_id: loaded.label.id })
      return removeResource(request.tx, keys.label, loaded.label)
    },
  }),
]
