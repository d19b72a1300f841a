import { z } from 'zod'

/** A subtask of a card, as it is stored and as the API returns it. */
export const subtask = z.strictObject({
  id: z.string(),
  card_id: z.string(),
  title: z.string(),
  completed_at: z.string().nullable(),
  position: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Subtask = Readonly<z.infer<typeof subtask>>
