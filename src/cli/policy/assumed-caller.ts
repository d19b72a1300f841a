import { AdminError } from '../../admin/deps.ts'
import { assumedCaller } from '../../authz/assumed-caller.ts'
import type { Caller } from '../../authz/context.ts'
import { isId } from '../../model/ids.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'

/** The scope of a token that has none. The web app has no token at all. */
export const NO_SCOPE = 'none'

/**
 * A user with a token that they need not have.
 * @throws {AdminError} `not_found`
 */
export async function callerIn(tx: Transaction, workspace: string, user: string, scope: string): Promise<Caller> {
  const membership = isId('user', user) ? await tx.get(keys.membership(user)) : undefined
  if (membership === undefined) throw new AdminError('not_found', `${user} is not a member of ${workspace}`)
  return assumedCaller(membership, workspace, [scope])
}
