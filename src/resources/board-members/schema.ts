import { z } from 'zod'

/** A member of a board. `creator` marks the one who needs no explicit membership. */
export const boardMemberEntry = z.strictObject({
  user_id: z.string(),
  display_name: z.string(),
  avatar_url: z.string().nullable(),
  creator: z.boolean(),
  added_at: z.string(),
})
export type BoardMemberEntry = z.infer<typeof boardMemberEntry>
