import { z } from 'zod'
import { colorField, documented, idField, resourceTimes, textField } from './fields.ts'
import { limits } from './limits.ts'

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
    name: textField('The name of the board.', limits.boardName),
    description: textField('What the board is for. It may be empty.', limits.boardDescription),
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
export interface BoardMember {
  readonly board_id: string
  readonly user_id: string
  /** a copy of the board's `created_at`, which orders the user's list of boards */
  readonly board_created_at: string
  readonly added_at: string
}
