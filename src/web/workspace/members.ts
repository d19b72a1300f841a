import { durations } from '../../model/durations.ts'
import { stateOf } from '../../auth/tokens/lifecycle.ts'
import type { Clock } from '../../model/time.ts'
import type { Membership } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import type { Transaction } from '../../store/transaction.ts'
import { newestTokens, type UsedToken } from '../memberships.ts'

/** A member with their tokens. */
export interface MemberTokens {
  readonly member: Membership
  readonly tokens: readonly UsedToken[]
}

/** The tokens of one member that a list has at most: the newest ones, and all that are active. */
const LISTED = 100

/** The members of a workspace, and their tokens that are active, or were issued recently enough for the list of ended tokens. */
export async function memberTokens(tx: Transaction, clock: Clock): Promise<MemberTokens[]> {
  const { values } = await tx.all(indexes.members(), { weak: true })
  const lists: MemberTokens[] = []
  for (const member of values.filter((one) => one !== undefined)) {
    const tokens = await newestTokens(tx, member.user_id, LISTED, clock)
    const isRecent = (token: UsedToken) => stateOf(token, clock()) === 'active' || Date.parse(token.issued_at) > clock() - durations.token
    lists.push({ member, tokens: tokens.filter(isRecent) })
  }
  return lists
}
