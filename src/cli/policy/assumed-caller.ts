import { AdminError } from '../../admin/deps.ts'
import type { Caller } from '../../authz/context.ts'
import { isId } from '../../model/ids.ts'
import type { TokenRecord } from '../../model/token.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'

/** The scope of a token that has none. The web app has no token at all. */
export const NO_SCOPE = 'none'

const NO_TIME = new Date(0).toISOString()

/**
 * A user with a token that they need not have.
 * @throws {AdminError} `not_found`
 */
export async function callerIn(tx: Transaction, workspace: string, user: string, scope: string): Promise<Caller> {
  const membership = isId('user', user) ? await tx.get(keys.membership(user)) : undefined
  if (membership === undefined) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
  const times = { issued_at: NO_TIME, expires_at: NO_TIME, revoked_at: null, replaced_by: null }
  const token: TokenRecord = { id: '', hash: '0'.repeat(64), user_id: user, name: '', scopes: [scope], ...times }
  return { userId: user, workspaceId: workspace, membership, token }
}
