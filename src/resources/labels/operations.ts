import { labelCreate } from './schema.ts'
import { z } from 'zod'
import { newId } from '../../model/ids.ts'
import { label, type Label } from '../../model/label.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { removeLabelFromCards } from '../cascades.ts'
import { loadBoard, loadLabel } from '../targets.ts'
import { deleted, operation, type Addressed } from '../operation.ts'
import { listPage, pageQuery } from '../../listing/pages.ts'
import { requireCapacity } from '../../listing/capacity.ts'

const entity = (params: Readonly<Record<string, string>>) => keys.label(params['label_id']!)
const load = ({ tx, caller, params }: Addressed) => loadLabel(tx, caller, params['label_id']!)
const FULL = `A board has at most ${limits.labelsPerBoard} labels.`

/** Labels of a board (spec §5: rows P2, P11). */
export const labelOperations = [
  operation({
    id: 'labels.list',
    method: 'GET',
    path: '/boards/{board_id}/labels',
    summary: 'Lists the labels of a board, oldest first.',
    needs: ['read', 'Label'],
    row: 'P2',
    query: z.strictObject(pageQuery('labels.list')),
    data: z.array(label),
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    run: ({ tx, query }, { board }) => listPage(tx, 'labels.list', indexes.labels(board.id), query),
  }),

  operation({
    id: 'labels.read',
    method: 'GET',
    path: '/labels/{label_id}',
    summary: 'Reads a label.',
    needs: ['read', 'Label'],
    row: 'P2',
    data: label,
    entity,
    load,
    run: async (_request, loaded) => ({ data: loaded.label }),
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
    entity: (params) => keys.board(params['board_id']!),
    conflicts: [FULL],
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    async run({ tx, body, clock, random }, { board }) {
      await requireCapacity(tx, indexes.labels(board.id), limits.labelsPerBoard, FULL)
      const now = timestamp(clock)
      const created: Label = { id: newId('label', random), board_id: board.id, ...body, created_at: now, updated_at: now }
      const key = keys.label(created.id)
      await tx.create(key, created)
      return { data: created, location: `/labels/${created.id}`, entity: key }
    },
  }),

  operation({
    id: 'labels.delete',
    method: 'DELETE',
    path: '/labels/{label_id}',
    summary: 'Deletes a label. It leaves every card that bears it.',
    needs: ['delete', 'Label'],
    row: 'P11',
    data: deleted,
    entity,
    load,
    async run({ tx, clock }, loaded) {
      await removeLabelFromCards(tx, loaded.label.id, clock)
      tx.remove(keys.label(loaded.label.id))
      return { data: { id: loaded.label.id, deleted: true } }
    },
  }),
]
