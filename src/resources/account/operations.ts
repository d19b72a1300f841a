import { z } from 'zod'
import { tokenOf } from '../../authz/context.ts'
import { expiryTextOf } from '../../auth/tokens/lifecycle.ts'
import { effectiveScopes, scopes } from '../../model/token.ts'
import { keys } from '../../store/keys.ts'
import { operation } from '../operation.ts'
import { target } from '../targets.ts'
import { documented, idField, textField, timeField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { roles } from '../../model/workspace.ts'

/** The account of the calling token (spec §2, "Account"). */
const account = documented(
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

/** The account of the calling token (spec §2, §4). */
export const accountOperations = [
  operation({
    id: 'account.read',
    method: 'GET',
    path: '/account',
    summary: 'Returns the user, the workspace and the scopes of the token.',
    needs: ['read', 'Account'],
    row: 'P1',
    data: account,
    target: target(
      (_params, { tokenHash }) => [keys.workspace(), keys.tokenUse(tokenHash)],
      ([workspace, use]) => ({ workspace, use }),
    ),
    run({ caller }, { workspace, use }) {
      const token = tokenOf(caller)
      const { membership } = caller
      return {
        data: {
          user_id: caller.userId,
          display_name: membership.display_name,
          role: membership.role,
          workspace: { id: workspace!.id, name: workspace!.name },
          scopes: [...effectiveScopes(token.scopes)],
          token: { id: token.id, name: token.name, expires_at: expiryTextOf(token), last_used_at: use?.at ?? null },
        },
      }
    },
  }),
]
