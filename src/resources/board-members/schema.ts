import { z } from 'zod'

/** A board member as it is answered; `creator` tells the one who needs no entry. */
export const boardMemberEntry = z.strictObject({
  user_id: z.string(),
  display_name: z.string(),
  avatar_url: z.string().nullable(),
  creator: z.boolean(),
  added_at: z.string(),
})
