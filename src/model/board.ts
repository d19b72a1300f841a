import { z } from 'zod'
import { timestamp, colorField, documented, idOf, idField, resourceTimes } from './fields.ts'
import { limits } from './limits.ts'
import { line, prose } from './text.ts'

/** `workspace`: every member of the workspace has access. `private`: only the creator and explicit members have. */
export const visibilities = ['workspace', 'private'] as const

export const color = documented(
  z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color: "#rrggbb"')
    .toLowerCase(),
  { minLength: 7, maxLength: 7 },
)

/** A board, as it is stored and as the API returns it. */
export const board = documented(
  z.strictObject({
    id: idField('board', 'The id of the board.'),
    name: line(limits.boardName, 'The name of the board.'),
    description: prose(limits.boardDescription, 'What the board is for. It may be empty.'),
    cover_color: colorField('The color of the board; null if it has none.').nullable(),
    visibility: documented(z.enum(visibilities), {
      description:
        '`workspace`: every member of the workspace has access to the board. `private`: only its creator and its explicit members have.',
    }),
    creator_id: idField('user', 'The user who created the board. They always have access to it.'),
    ...resourceTimes,
  }),
  { id: 'Board', description: 'A board: the columns and cards of one project.' },
)
export type Board = Readonly<z.infer<typeof board>>

/** An explicit membership of a board. The creator needs none. */
export const boardMember = z.strictObject({
  board_id: idOf('board'),
  user_id: idOf('user'),
  /** a copy of the board's `created_at`, which orders the user's list of boards */
  board_created_at: timestamp,
  added_at: timestamp,
})
export type BoardMember = Readonly<z.infer<typeof boardMember>>
