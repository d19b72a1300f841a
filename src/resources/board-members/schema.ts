import { z } from 'zod'
import { avatarField, documented, idField, textField, timeField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'

/** A member of a board. `creator` marks the one who needs no explicit membership. */
export const boardMemberEntry = documented(
  z.strictObject({
    user_id: idField('user', 'The id of the user.'),
    display_name: textField('The name of the user in the workspace.', limits.displayName),
    avatar_url: avatarField().nullable(),
    creator: documented(z.boolean(), { description: 'Whether the user created the board. The creator needs no explicit membership.' }),
    added_at: timeField('When the user was added; of the creator, when the board was created.'),
  }),
  { id: 'BoardMember', description: 'The creator of a board, or an explicit member of it.' },
)
export type BoardMemberEntry = z.infer<typeof boardMemberEntry>
