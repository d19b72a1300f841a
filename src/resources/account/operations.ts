import { expiryOf } from '../../auth/tokens/lifecycle.ts'
import { effectiveScopes } from '../../model/token.ts'
import { keys } from '../../store/keys.ts'
import { operation } from '../operation.ts'
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
    async run({ tx, caller }) {
      const { token, membership } = caller
      const [workspace, use] = await tx.read([keys.workspace(), keys.tokenUse(token.hash)])
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
