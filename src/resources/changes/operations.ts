import { z } from 'zod'
import { CURSOR, cursorOf, encodeCursor, NO_CURSOR, pageLimit } from '../../listing/pages.ts'
import { waitParameter } from '../../listing/wait.ts'
import { change } from '../../model/change.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { indexes } from '../../store/indexes.ts'
import { operation } from '../operation.ts'
import { parentBoard } from '../targets.ts'
import { CHANGES, NOW, readAfter, readEarlierChanges } from './feed.ts'

const { pattern, maxLength } = CURSOR
const after = documented(z.union([z.literal(NOW), cursorOf(CHANGES)], { error: `${NO_CURSOR}, or "${NOW}"` }).optional(), {
  description:
    'Returns the changes after this cursor: `page.next_cursor` of the previous response, or `changes_cursor` of GET /boards/{board_id}?include=…. `now` is the present end. Omit it to begin with the first change of the board.',
  // `now` has this form, too.
  parameter: { type: 'string', pattern, maxLength },
})
const order = documented(z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).optional(), {
  description: '`desc`: the newest first, from the end or before `after`; `page.next_cursor` is null after the oldest one.',
})
const wait = waitParameter('a change')

/** The change feed of a board (spec §5: row P2). */
export const changeOperations = [
  operation({
    id: CHANGES,
    method: 'GET',
    path: '/boards/{board_id}/changes',
    summary: 'Returns the changes of a board and its contents, in the order of their commits, each once.',
    needs: ['read', 'Board'],
    row: 'P2',
    query: z
      // The newest one is the last one: some generated clients take parameters by their places.
      .strictObject({ limit: pageLimit, after, wait, order })
      .refine((query) => query.order !== 'desc' || query.wait === 0, { path: ['wait'], message: 'must be 0 with order=desc' }),
    data: z.array(change),
    codes: ['cursor_expired'],
    target: parentBoard,
    async run(request, { board }) {
      const { query } = request
      if (query.order === 'desc') {
        const page = await readEarlierChanges(request, board, query.after === NOW ? undefined : query.after, query.limit)
        return { data: page.changes, nextCursor: page.position === undefined ? null : encodeCursor(CHANGES, page.position) }
      }
      const { changes, position } = await readAfter(request, board, query.after, query.limit)
      const result = { data: changes.map(({ data }) => data), nextCursor: encodeCursor(CHANGES, position) }
      if (changes.length > 0 || query.wait === 0) return result
      return { ...result, awaited: { index: indexes.changes(board.id), seconds: query.wait, position } }
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
      const { changes: items, position } = await readAfter(request, board, request.query.after, limits.pageSize.max)
      return { data: undefined, stream: { items, position, index: indexes.changes(board.id) } }
    },
  }),
]
