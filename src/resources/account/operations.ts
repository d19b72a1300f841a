import { tokenSummary } from './schema.ts'
import { z } from 'zod'
import { effectiveScopes, scopes } from '../../model/token.ts'
import { roles } from '../../model/workspace.ts'
import { keys } from '../../store/keys.ts'
import { expiryOf } from '../../auth/tokens/lifecycle.ts'
import { operation } from '../operation.ts'

const account = z.strictObject({
  user_id: z.string(),
  display_name: z.string(),
  role: z.enum(roles),
  workspace: z.strictObject({ id: z.string(), name: z.string() }),
  scopes: z.array(z.enum(scopes)),
  token: tokenSummary,
})

/** The account of the calling token (spec §2, §4). */
export const accountOperations = [
  operation({
    id: 'account.read',
    method: 'GET',
    path: '/account',
    summary: 'Tells whom the token represents, in which workspace, and what it can be used for.',
    needs: ['read', 'Account'],
    row: 'P1',
    data: account,
    load: async () => ({}),
    async run({ tx, caller }) {
      const { token, membership } = caller
      const [workspace, use] = await tx.read([keys.workspace(), keys.tokenUse(token.hash)])
      return {
        data: {
          user_id: caller.userId,
          display_name: membership.display_name,
          role: membership.role,
          workspace: { id: workspace!.id, name: workspace!.name },
          scopes: effectiveScopes(token.scopes),
          token: { id: token.id, name: token.name, expires_at: new Date(expiryOf(token)).toISOString(), last_used_at: use?.at ?? null },
        },
      }
    },
  }),
]
