import { tokenOf } from '../../authz/context.ts'
import { expiryOf } from '../../auth/tokens/lifecycle.ts'
import { effectiveScopes } from '../../model/token.ts'
import { keys } from '../../store/keys.ts'
import { operation } from '../operation.ts'
import { target } from '../targets.ts'
import { account } from './schema.ts'

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
      (_params, _at, { tokenHash }) => [keys.workspace(), keys.tokenUse(tokenHash)],
      ([workspace, use]) => ({ workspace, use }),
    ),
    async run({ caller }, { workspace, use }) {
      const token = tokenOf(caller)
      const { membership } = caller
      return {
        data: {
          user_id: caller.userId,
          display_name: membership.display_name,
          role: membership.role,
          workspace: { id: workspace!.id, name: workspace!.name },
          scopes: [...effectiveScopes(token.scopes)],
          token: { id: token.id, name: token.name, expires_at: new Date(expiryOf(token)).toISOString(), last_used_at: use?.at ?? null },
        },
      }
    },
  }),
]
