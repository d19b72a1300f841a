import { z } from 'zod'

/** Who can find a board: every member of its workspace, or its creator and explicit members. */
export const visibilities = ['workspace', 'private'] as const

export const color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color: "#rrggbb"')
  .toLowerCase()

/** A board, as it is stored and as it is answered. */
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

/** That a person is an explicit member of a board. The creator needs no such entry. */
export interface BoardMember {
  readonly board_id: string
  readonly user_id: string
  /** when the board was created: it orders this person's boards */
  readonly board_created_at: string
  readonly added_at: string
}
