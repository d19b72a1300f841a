import { operation, type Operation } from '../operation.ts'
import { parentBoard } from '../targets.ts'
import { batch, batchResults, PERFORM } from './schema.ts'

const BATCH = 'boards.batch'
/** What a batch cannot have: itself, and what may wait and find nothing. */
const ALONE: ReadonlySet<string> = new Set([BATCH, 'claims.take_next'])

/**
 * The row of the batch (row X5). It takes the operations of the table that write on a board.
 * @param rows all other rows
 */
export function batchOperation(rows: readonly Operation[]): Operation {
  return operation({
    id: BATCH,
    method: 'POST',
    path: '/boards/{board_id}/batch',
    summary: 'Makes several changes on a board in one commit: all of them, or none.',
    needs: ['batch', 'Board'],
    row: 'X5',
    body: batch,
    data: batchResults,
    codes: ['forbidden', 'precondition_required'],
    conflicts: [...new Set(rows.filter(isBatchable).flatMap(({ conflicts }) => conflicts))],
    example: {
      body: {
        operations: [
          { operation: 'labels.create', body: { name: 'Urgent', color: '#cc0000' } },
          { operation: 'columns.create', body: { name: 'Next' } },
          { operation: 'cards.create', body: { column_id: '$1', title: 'Sow', label_ids: ['$0'] } },
        ],
      },
    },
    target: parentBoard,
    run: async (request, { board }) => ({
      data: { board_id: board.id, results: await request.use(PERFORM)(board.id, request.body.operations) },
      entity: null,
    }),
  })
}

/** Whether an operation can be part of a batch: it writes something that is on a board. Whether the scope is enough is decided later. */
export function isBatchable({ id, kind, method, path, isRead, takesUpload }: Operation): boolean {
  const isOnBoard = path.includes('{') && !path.startsWith('/files/')
  return !ALONE.has(id) && kind === 'single' && method !== 'GET' && !isRead && !takesUpload && isOnBoard
}
