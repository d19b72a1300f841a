import { z } from 'zod'
import { scopes } from '../../model/token.ts'
import { roles } from '../../model/workspace.ts'

/** The account of the calling token (spec §2, "Account"). */
export const account = z.strictObject({
  user_id: z.string(),
  display_name: z.string(),
  role: z.enum(roles),
  workspace: z.strictObject({ id: z.string(), name: z.string() }),
  scopes: z.array(z.enum(scopes)),
  token: z.strictObject({
    id: z.string(),
    name: z.string(),
    expires_at: z.string(),
    last_used_at: z.string().nullable(),
  }),
})
