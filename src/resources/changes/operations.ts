import { z } from 'zod'
import { cursorOf, encodeCursor, pageLimit } from '../../listing/pages.ts'
import { change } from '../../model/change.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { indexes } from '../../store/indexes.ts'
import { operation } from '../operation.ts'
import { parentBoard } from '../targets.ts'
import { CHANGES, readChanges } from './feed.ts'

const after = documented(cursorOf(CHANGES).optional(), {
  description:
    'Returns the changes after this cursor: `page.next_cursor` of the previous response, or `changes_cursor` of GET /boards/{board_id}?include=…. Omit it to begin with the first change of the board.',
})
const wait = documented(
  z
    .string()
    .regex(/^[0-9]{1,2}$/, `must be a whole number from 0 to ${limits.longPoll}`)
    .transform(Number)
    .pipe(z.number().max(limits.longPoll))
    .default(0),
  {
    description: 'The number of seconds to wait for a change if there is none. The response comes as soon as there is one.',
    parameter: { type: 'integer', format: 'int32', minimum: 0, maximum: limits.longPoll, default: 0 },
  },
)

/** The change feed of a board (spec §5: row P2). */
export const changeOperations = [
  operation({
    id: CHANGES,
    method: 'GET',
    path: '/boards/{board_id}/changes',
    summary: 'Returns the changes of a board and its contents, in the order of their commits, each once.',
    needs: ['read', 'Board'],
    row: 'P2',
    query: z.strictObject({ limit: pageLimit, after, wait }),
    data: z.array(change),
    codes: ['cursor_expired'],
    target: parentBoard,
    async run(request, { board }) {
      const { query } = request
      const { changes, position } = await readChanges(request, board, query.after, query.limit)
      const result = { data: changes.map(({ data }) => data), nextCursor: encodeCursor(CHANGES, position) }
      if (changes.length > 0 || query.wait === 0) return result
      return { ...result, awaited: { index: indexes.changes(board.id), seconds: query.wait } }
    },
  }),

  operation({
    id: 'boards.events',
    method: 'GET',
    path: '/boards/{board_id}/events',
    summary: 'Returns the changes of a board as a stream of server-sent events, which continues as they are made.',
    needs: ['read', 'Board'],
    row: 'P2',
    query: z.strictObject({ after }),
    data: z.undefined(),
    codes: ['cursor_expired'],
    target: parentBoard,
    isStream: true,
    async run(request, { board }) {
      const { changes: items, position } = await readChanges(request, board, request.query.after, limits.pageSize.max)
      return { data: undefined, stream: { items, position, index: indexes.changes(board.id) } }
    },
  }),
]
