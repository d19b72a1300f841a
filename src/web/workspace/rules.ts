import { z } from 'zod'
import { MAX_TOKEN_DAYS, tokenDays } from '../../model/account.ts'
import type { TokenRules } from '../../model/token.ts'
import { type Deps, transact } from '../../store/transact.ts'
import { keys } from '../../store/keys.ts'

/** What holds for the new tokens of a workspace. */
export type RulesInForce = Pick<TokenRules, 'max_days' | 'admin'>

const NO_RULES: RulesInForce = { max_days: MAX_TOKEN_DAYS, admin: true }
/** The form of the rules. */
export const rulesInput = z.object({ max_days: tokenDays, admin: z.literal('on').optional() })

/** What a choice of a token has that the rules do not allow: a message for each member. */
export function brokenRules(rules: RulesInForce, scope: string, days: number): { scope?: [string]; days?: [string] } {
  return {
    ...(!rules.admin && scope === 'kanban:admin' && { scope: ['this workspace does not issue tokens with this scope'] as [string] }),
    ...(days > rules.max_days && { days: [`this workspace allows at most ${rules.max_days} days`] as [string] }),
  }
}

/** The rules for new tokens of a workspace. Without any, all lifetimes and scopes of the service are allowed. */
export async function rulesOf({ store, random }: Deps, workspaceId: string): Promise<RulesInForce> {
  return (await transact(store, workspaceId, random, (tx) => tx.get(keys.tokenRules()))) ?? NO_RULES
}
