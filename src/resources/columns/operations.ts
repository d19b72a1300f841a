import { columnCreate, columnMove, columnRename } from './schema.ts'
import { z } from 'zod'
import { column, type Column } from '../../model/column.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { loadAnchor, notNextToItself, placeOf } from '../../listing/anchors.ts'
import { flag } from '../../listing/filters.ts'
import { loadBoard, loadColumn } from '../targets.ts'
import { operation, type Addressed, type OperationRequest } from '../operation.ts'
import { orderedPage } from '../../listing/ranked-pages.ts'
import { positionAt, type OrderedList } from '../../listing/ranks.ts'
import { pageQuery } from '../../listing/pages.ts'
import { requireCapacity } from '../../listing/capacity.ts'

const entity = (params: Readonly<Record<string, string>>) => keys.column(params['column_id']!)
const load = ({ tx, caller, params }: Addressed) => loadColumn(tx, caller, params['column_id']!)
const boardList = (boardId: string): OrderedList<Column> => ({ id: boardId, indexes: [indexes.columns(boardId)], keyOf: keys.column })
const FULL = `A board has at most ${limits.columnsPerBoard} columns, archived ones included.`

function save({ tx, clock }: Pick<OperationRequest, 'tx' | 'clock'>, changed: Column): { data: Column } {
  const data = { ...changed, updated_at: timestamp(clock) }
  tx.put(keys.column(data.id), data)
  return { data }
}

/** Columns of a board (spec §5: rows P2, P8; X1). */
export const columnOperations = [
  operation({
    id: 'columns.list',
    method: 'GET',
    path: '/boards/{board_id}/columns',
    summary: 'Lists the columns of a board in their order: those at work, or with ?archived=true those put away.',
    needs: ['read', 'Column'],
    row: 'P2',
    query: z.strictObject({ ...pageQuery('columns.list'), archived: flag.default(false) }),
    data: z.array(column),
    load: ({ tx, caller, params }) => loadBoard(tx, caller, params['board_id']!),
    run: ({ tx, query }, { board }) =>
      orderedPage(tx, 'columns.list', boardList(board.id), query, ({ archived_at }) => (archived_at !== null) === query.archived),
  }),

  operation({
    id: 'columns.read',
    method: 'GET',
    path: '/columns/{column_id}',
    summary: 'Reads a column.',
    needs: ['read', 'Column'],
    row: 'P2',
    data: column,
    entity,
    load,
    run: async (_request, loaded) => ({ data: loaded.column }),
  }),

  operation({
    id: 'columns.create',
    method: 'POST',
    path: '/boards/{board_id}/columns',
    summary: 'Creates a column: before or after another one, else last.',
    needs: ['create', 'Column'],
    row: 'P8',
    body: columnCreate,
    data: column,
    status: 201,
    entity: (params) => keys.board(params['board_id']!),
    conflicts: [FULL],
    async load({ tx, caller, params, body, see }) {
      const loaded = see(await loadBoard(tx, caller, params['board_id']!))
      return { ...loaded, anchor: await loadAnchor(tx, body, 'column', keys.column, ({ board_id }) => board_id === loaded.board.id) }
    },
    async run({ tx, body, clock, random }, { board, anchor }) {
      await requireCapacity(tx, indexes.columns(board.id), limits.columnsPerBoard, FULL)
      const now = timestamp(clock)
      const position = await positionAt({ tx, clock }, boardList(board.id), placeOf(anchor, 'last'))
      const created: Column = {
        id: newId('column', random),
        board_id: board.id,
        name: body.name,
        position,
        archived_at: null,
        created_at: now,
        updated_at: now,
      }
      const key = keys.column(created.id)
      await tx.create(key, created)
      return { data: created, location: `/columns/${created.id}`, entity: key }
    },
  }),

  operation({
    id: 'columns.rename',
    method: 'PATCH',
    path: '/columns/{column_id}',
    summary: 'Renames a column.',
    needs: ['rename', 'Column'],
    row: 'P8',
    body: columnRename,
    data: column,
    entity,
    load,
    run: async (request, loaded) => save(request, { ...loaded.column, name: request.body.name }),
  }),

  operation({
    id: 'columns.move',
    method: 'POST',
    path: '/columns/{column_id}/move',
    summary: 'Moves a column among the columns of its board.',
    needs: ['move', 'Column'],
    row: 'P8',
    body: columnMove,
    data: column,
    entity,
    contradiction: notNextToItself('column_id'),
    async load({ tx, caller, params, body, see }) {
      const loaded = see(await loadColumn(tx, caller, params['column_id']!))
      return { ...loaded, anchor: await loadAnchor(tx, body, 'column', keys.column, ({ board_id }) => board_id === loaded.board.id) }
    },
    async run(request, { column: moved, anchor }) {
      const position = await positionAt(request, boardList(moved.board_id), placeOf(anchor, request.body.to), moved.id)
      return save(request, { ...moved, position })
    },
  }),

  operation({
    id: 'columns.archive',
    method: 'POST',
    path: '/columns/{column_id}/archive',
    summary: 'Puts a column away. Its cards leave the active lists with it.',
    needs: ['archive', 'Column'],
    row: 'P8',
    data: column,
    entity,
    load,
    async run(request, { column: archived }) {
      return archived.archived_at === null ? save(request, { ...archived, archived_at: timestamp(request.clock) }) : { data: archived }
    },
  }),

  operation({
    id: 'columns.restore',
    method: 'POST',
    path: '/columns/{column_id}/restore',
    summary: 'Brings an archived column back to its place, with its cards.',
    needs: ['restore', 'Column'],
    row: 'X1',
    data: column,
    entity,
    load,
    async run(request, { column: restored }) {
      return restored.archived_at === null ? { data: restored } : save(request, { ...restored, archived_at: null })
    },
  }),
]
