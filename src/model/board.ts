import { z } from 'zod'

/** `workspace`: every member of the workspace has access. `private`: only the creator and explicit members have. */
export const visibilities = ['workspace', 'private'] as const
export type Visibility = (typeof visibilities)[number]

export const color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color: "#rrggbb"')
  .toLowerCase()

/** A board, as it is stored and as the API returns it. */
export const board = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  cover_color: z.string().nullable(),
  visibility: z.enum(visibilities),
  creator_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Board = Readonly<z.infer<typeof board>>

/** An explicit membership of a board. The creator needs none. */
export interface BoardMember {
  readonly board_id: string
  readonly user_id: string
  /** a copy of the board's `created_at`, which orders the user's list of boards */
  readonly board_created_at: string
  readonly added_at: string
}
