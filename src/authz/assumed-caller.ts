import type { Membership } from '../model/workspace.ts'
import type { TokenCaller } from './context.ts'

const NO_TIME = new Date(0).toISOString()
const TIMES = { issued_at: NO_TIME, expires_at: NO_TIME, revoked_at: null, replaced_by: null }

/** A person with a token that they need not have: so both tables decide what they may do. It has no id, and no record has its hash. */
export function assumedCaller(membership: Membership, workspaceId: string, scopes: readonly string[]): TokenCaller {
  const { user_id: userId } = membership
  const token = { id: '', hash: '0'.repeat(64), user_id: userId, name: '', scopes, ...TIMES }
  return { userId, workspaceId, membership, token }
}
