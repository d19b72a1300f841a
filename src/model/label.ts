import { z } from 'zod'
import { color } from './board.ts'
import { limits } from './limits.ts'
import { line } from './text.ts'

/** A label of a board, as it is stored and as it is answered. */
export const label = z.strictObject({
  id: z.string(),
  board_id: z.string(),
  name: z.string(),
  color: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Label = Readonly<z.infer<typeof label>>

export const labelCreate = z.strictObject({ name: line(limits.labelName), color })
