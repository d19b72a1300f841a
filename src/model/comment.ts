import { z } from 'zod'
import { limits } from './limits.ts'
import { prose } from './text.ts'

/** A comment on a card, as it is stored and as it is answered. */
export const comment = z.strictObject({
  id: z.string(),
  card_id: z.string(),
  author_id: z.string(),
  body: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Comment = Readonly<z.infer<typeof comment>>

/** The body of a create and of an update alike. */
export const commentBody = z.strictObject({ body: prose(limits.commentBody).refine((text) => text.trim() !== '', 'must not be blank') })
