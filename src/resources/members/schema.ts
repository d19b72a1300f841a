import { z } from 'zod'
import { avatarField, documented, idField, textField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { roles } from '../../model/workspace.ts'

/** An entry of the member directory: these four members and no other (spec §2, "Member directory entry"). */
export const directoryEntry = documented(
  z.strictObject({
    user_id: idField('user', 'The id of the user.'),
    role: documented(z.enum(roles), { description: 'The role of the user in the workspace.' }),
    display_name: textField('The name of the user in the workspace.', limits.displayName),
    avatar_url: avatarField().nullable(),
  }),
  { id: 'Member', description: 'A member of the workspace.' },
)
