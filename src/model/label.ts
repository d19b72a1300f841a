import { z } from 'zod'

/** A label of a board, as it is stored and as the API returns it. */
export const label = z.strictObject({
  id: z.string(),
  board_id: z.string(),
  name: z.string(),
  color: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Label = Readonly<z.infer<typeof label>>
