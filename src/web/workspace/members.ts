import { durations } from '../../model/durations.ts'
import { stateOf } from '../../auth/tokens/lifecycle.ts'
import type { Clock } from '../../model/time.ts'
import type { TokenRecord, TokenUse } from '../../model/token.ts'
import type { Membership } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'

/** A member with their tokens. */
export interface MemberTokens {
  readonly member: Membership
  readonly tokens: readonly (TokenRecord & { readonly use: TokenUse | null })[]
}

/** The tokens of one member that a list has at most: the newest ones, and all that are active. */
const LISTED = 100

/** The members of a workspace, and their tokens that are active or ended in the last 30 days, newest first. */
export async function memberTokens(tx: Transaction, clock: Clock): Promise<MemberTokens[]> {
  const { values: members } = await tx.all(indexes.members(), { weak: true })
  const lists: MemberTokens[] = []
  for (const member of members) {
    if (member === undefined) continue
    const { values } = await tx.all(indexes.tokensOf(member.user_id), { weak: true })
    const all = values.filter((token) => token !== undefined && isRecent(token, clock())).toReversed() as TokenRecord[]
    const listed = all.filter((token, i) => i < LISTED || stateOf(token, clock()) === 'active')
    const uses = await tx.read(listed.map(({ hash }) => keys.tokenUse(hash)))
    lists.push({ member, tokens: listed.map((token, i) => ({ ...token, use: uses[i] ?? null })) })
  }
  return lists
}

/** Whether a token is active, or was issued so lately that a list of what has ended has it. */
function isRecent(token: TokenRecord, now: number): boolean {
  return stateOf(token, now) === 'active' || Date.parse(token.issued_at) > now - durations.token
}
