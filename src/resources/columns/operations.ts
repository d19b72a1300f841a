import { z } from 'zod'
import { endClaimsOfColumn } from '../claims/changes.ts'
import { rankedPage, booleanParameter } from '../../listing/pages.ts'
import { AT_END, notNextToItself, resolvePlacement, type Placement, onePlacement, place } from '../../listing/placement.ts'
import { positionAt, type RankedList } from '../../listing/ranks.ts'
import type { BoardAccess } from '../../authz/context.ts'
import { column, type Column } from '../../model/column.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { requireCardCapacity } from '../cards/capacity.ts'
import { itemList } from '../included.ts'
import { atLeastOne, operation } from '../operation.ts'
import { columnTarget, parentBoard } from '../targets.ts'
import { capacityMessage, requireCapacity } from '../capacity.ts'
import { createResource, saveResource, setArchived } from '../writes.ts'
import { limits } from '../../model/limits.ts'
import { documented } from '../../model/fields.ts'
import { nameLine } from '../../model/text.ts'
import { maxAttempts } from '../../model/work.ts'

const name = nameLine(limits.columnName, 'The name of the column.')

/** The query member of the list. */
const archivedColumns = booleanParameter.describe('Whether to list the archived columns instead of the active ones.').default(false)

const wip_limit = documented(z.int().min(1).max(limits.wipLimit).nullable(), {
  format: 'int32',
  description: 'How many active cards it may have, completed ones included; null: any number.',
})

const max_attempts = documented(z.int().min(maxAttempts.least).max(maxAttempts.most).nullable(), {
  format: 'int32',
  description:
    'After how many attempts in a row that end without success a card is stuck; null: never. It counts for claims that are taken from then on.',
})

const completes = documented(z.boolean(), {
  description:
    'Whether a card that comes into the column is completed, and one that leaves it for a column that does not is open again. The cards that are in the column stay as they are.',
})

const columnCreate = onePlacement(
  z.strictObject({
    name,
    wip_limit: wip_limit.default(null),
    max_attempts: max_attempts.default(maxAttempts.default),
    completes: completes.default(false),
    ...place,
  }),
)
const columnRename = z.strictObject({ name, wip_limit, max_attempts, completes }).partial()
const columnMove = onePlacement(z.strictObject(place), 'required')

const columnsOf = (boardId: string): RankedList<Column> => ({ id: boardId, indexes: [indexes.columns(boardId)], keyOf: keys.column })

async function placementOnBoard({ tx, body }: { tx: Transaction; body: Placement }, { board }: { board: BoardAccess }) {
  return { placement: await resolvePlacement(tx, body, 'column', keys.column, ({ board_id }) => board_id === board.id) }
}

/** Columns of a board (spec §5: rows P2, P8; X1). */
export const columnOperations = [
  operation({
    id: 'columns.list',
    method: 'GET',
    path: '/boards/{board_id}/columns',
    summary: 'Lists the active columns of a board in their order, or the archived ones with ?archived=true.',
    needs: ['read', 'Column'],
    row: 'P2',
    ...itemList('columns.list', column, { archived: archivedColumns }),
    target: parentBoard,
    run: ({ tx, query }, { board }) =>
      rankedPage(tx, 'columns.list', columnsOf(board.id), query, ({ archived_at }) => (archived_at !== null) === query.archived),
  }),

  operation({
    id: 'columns.read',
    method: 'GET',
    path: '/columns/{column_id}',
    summary: 'Returns a column.',
    needs: ['read', 'Column'],
    row: 'P2',
    data: column,
    target: columnTarget,
    run: (_request, loaded) => ({ data: loaded.column }),
  }),

  operation({
    id: 'columns.create',
    method: 'POST',
    path: '/boards/{board_id}/columns',
    summary: 'Creates a column before or after another one, or at the end, with a WIP limit if the body has one.',
    needs: ['create', 'Column'],
    row: 'P8',
    body: columnCreate,
    data: column,
    status: 201,
    capacity: ['columnsPerBoard', indexes.activeColumns],
    example: { body: { name: 'To do' } },
    target: parentBoard,
    related: (request, loaded) => placementOnBoard(request, loaded),
    async run(request, { board, placement = AT_END }) {
      const position = await positionAt(request.tx, columnsOf(board.id), placement)
      const { name, wip_limit, max_attempts, completes } = request.body
      return createResource(request, 'column', keys.column, {
        board_id: board.id,
        name,
        wip_limit,
        max_attempts,
        completes,
        position,
        archived_at: null,
      })
    },
  }),

  operation({
    id: 'columns.rename',
    method: 'PATCH',
    path: '/columns/{column_id}',
    summary: 'Renames a column, or changes how many active cards it may have, how many attempts, and whether it completes its cards.',
    needs: ['rename', 'Column'],
    row: 'P8',
    body: atLeastOne(columnRename),
    data: column,
    example: { body: { name: 'Doing', wip_limit: 20 } },
    target: columnTarget,
    run: (request, loaded) => saveResource(request, keys.column, loaded.column, request.body),
  }),

  operation({
    id: 'columns.move',
    method: 'POST',
    path: '/columns/{column_id}/move',
    summary: 'Moves a column to another place on its board.',
    needs: ['move', 'Column'],
    row: 'P8',
    body: columnMove,
    data: column,
    bodyRule: notNextToItself('column_id'),
    example: { body: { to: 'first' } },
    target: columnTarget,
    related: (request, loaded) => placementOnBoard(request, loaded),
    async run(request, { column: moved, placement }) {
      const position = await positionAt(request.tx, columnsOf(moved.board_id), placement!, moved)
      return saveResource(request, keys.column, moved, { position })
    },
  }),

  operation({
    id: 'columns.archive',
    method: 'POST',
    path: '/columns/{column_id}/archive',
    summary: 'Archives a column. Its cards leave the active lists with it.',
    needs: ['archive', 'Column'],
    row: 'P8',
    data: column,
    target: columnTarget,
    async run(request, { column: archived }) {
      if (archived.archived_at === null) await endClaimsOfColumn(request, archived)
      return setArchived(request, keys.column, archived, true)
    },
  }),

  operation({
    id: 'columns.restore',
    method: 'POST',
    path: '/columns/{column_id}/restore',
    summary: 'Restores an archived column to its place, with its cards.',
    needs: ['restore', 'Column'],
    row: 'X1',
    data: column,
    conflicts: [capacityMessage('columnsPerBoard'), capacityMessage('cardsPerBoard')],
    target: columnTarget,
    async run(request, { column: restored, board: { id } }) {
      const { tx } = request
      if (restored.archived_at === null) return { data: restored }
      await tx.prefetch({ counts: [indexes.activeColumns(id), indexes.boardActiveCards(id)] })
      await requireCapacity(tx, indexes.activeColumns(id), 'columnsPerBoard')
      await requireCardCapacity(tx, id, { column: restored.id })
      return setArchived(request, keys.column, restored, false)
    },
  }),
]
