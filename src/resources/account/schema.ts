import { z } from 'zod'
import { documented, idField, textField, timeField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { scopes } from '../../model/token.ts'
import { roles } from '../../model/workspace.ts'

/** The account of the calling token (spec §2, "Account"). */
export const account = documented(
  z.strictObject({
    user_id: idField('user', 'The user that the token represents.'),
    display_name: textField('The name of the user in the workspace.', limits.displayName),
    role: documented(z.enum(roles), { description: 'The role of the user in the workspace.' }),
    workspace: documented(
      z.strictObject({
        id: idField('workspace', 'The id of the workspace.'),
        name: textField('The name of the workspace.', limits.workspaceName),
      }),
      { description: 'The one workspace that the token is for.' },
    ),
    scopes: documented(z.array(z.enum(scopes)), {
      description: 'The scopes of the token with those that they include, in the order read, write, admin.',
      maxItems: scopes.length,
    }),
    token: documented(
      z.strictObject({
        id: idField('token', 'The id of the token. It is no secret.'),
        name: textField('The name that the token was given.', limits.tokenName),
        expires_at: timeField('When the token expires.'),
        last_used_at: timeField('When the token was last used, to about ten minutes; null if that is not recorded yet.').nullable(),
      }),
      { description: 'The token itself.' },
    ),
  }),
  { id: 'Account', description: 'The user, the workspace and the scopes of a token.' },
)
