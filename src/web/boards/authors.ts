import { findToken } from '../../auth/tokens/issue.ts'
import type { Caller } from '../../authz/context.ts'
import { keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { ChangeRecord } from '../../model/change.ts'
import type { SignedInContext } from '../page-context.ts'
import { tokenNamer } from './holders.ts'

interface Made extends Pick<ChangeRecord, 'actor_id' | 'token_id'> {
  /** whether the operator made it as a member */
  readonly isByOperator?: boolean
}

/** Who made changes, in words, as the caller may know it: "your token “CI”", "Ana, in the web app". */
export async function authorsOf(context: SignedInContext, caller: Caller, changes: readonly Made[]): Promise<string[]> {
  const { web } = context
  const nameOf = tokenNamer(context, caller)
  const [tokenIds, userIds] = [idsOf(changes, 'token_id'), idsOf(changes, 'actor_id')]
  return transact(web.store, caller.workspaceId, web.random, async (tx) => {
    const tokens = new Map(await Promise.all(tokenIds.map(async (id) => [id, await findToken(tx, id)] as const)))
    const members = await tx.read(userIds.map((id) => keys.membership(id)))
    const names = new Map(userIds.map((id, i) => [id, members[i]?.display_name]))
    return changes.map(({ actor_id, token_id, isByOperator }): string => {
      if (actor_id === null) return 'the operator'
      const name = names.get(actor_id) ?? 'a former member'
      if (token_id !== null) return nameOf(tokens.get(token_id), name)
      if (isByOperator === true) return `the operator, as ${name}`
      return `${actor_id === caller.userId ? 'you' : name}, in the web app`
    })
  })
}

function idsOf(changes: readonly Made[], member: 'actor_id' | 'token_id'): string[] {
  return [...new Set(changes.map((change) => change[member]))].filter((id) => id !== null)
}
