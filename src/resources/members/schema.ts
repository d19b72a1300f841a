import { z } from 'zod'
import { roles } from '../../model/workspace.ts'

/** An entry of the member directory: these four members and no other (spec §2, "Member directory entry"). */
export const directoryEntry = z.strictObject({
  user_id: z.string(),
  role: z.enum(roles),
  display_name: z.string(),
  avatar_url: z.string().nullable(),
})
