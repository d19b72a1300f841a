import { z } from 'zod'

/** A comment on a card, as it is stored and as the API returns it. */
export const comment = z.strictObject({
  id: z.string(),
  card_id: z.string(),
  author_id: z.string(),
  body: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Comment = Readonly<z.infer<typeof comment>>
