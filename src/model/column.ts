import { z } from 'zod'

/** A column, as it is stored and as the API returns it. */
export const column = z.strictObject({
  id: z.string(),
  board_id: z.string(),
  name: z.string(),
  position: z.string(),
  archived_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Column = Readonly<z.infer<typeof column>>
