import { z } from 'zod'

/** What an account may know of the token that asks (GET /account). */
export const tokenSummary = z.strictObject({
  id: z.string(),
  name: z.string(),
  expires_at: z.string(),
  last_used_at: z.string().nullable(),
})
