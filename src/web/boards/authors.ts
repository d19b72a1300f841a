import { findToken } from '../../auth/tokens/issue.ts'
import type { ChangeRecord } from '../../model/change.ts'
import type { Claim } from '../../model/claim.ts'
import { keys } from '../../store/keys.ts'
import { decide } from '../workspace/permission.ts'
import type { Reader } from '../reader.ts'

interface Made extends Pick<ChangeRecord, 'actor_id' | 'token_id'> {
  /** whether the operator made it as a member */
  readonly isByOperator?: boolean
}

/**
 * Who made changes, in words, as the caller may know it: "your token “CI”", "Ana, in the web app". The name of a token is shown to its
 * person, and to those who may list the tokens of all.
 * @param caller as the changes were read: a role can change while a page is open
 */
export async function authorsOf(reader: Reader, changes: readonly Made[], caller = reader.caller()): Promise<string[]> {
  const mayNameAll = decide(reader.context.web.services().engine, 'workspace.tokens', caller)?.outcome === 'allowed'
  const [tokenIds, userIds] = [idsOf(changes, 'token_id'), idsOf(changes, 'actor_id')]
  return reader.transact(async (tx) => {
    const tokens = new Map(await Promise.all(tokenIds.map(async (id) => [id, await findToken(tx, id)] as const)))
    const members = await tx.read(userIds.map((id) => keys.membership(id)))
    const names = new Map(userIds.map((id, i) => [id, members[i]?.display_name]))
    return changes.map(({ actor_id, token_id, isByOperator }): string => {
      if (actor_id === null) return 'the operator'
      const name = names.get(actor_id) ?? 'a former member'
      if (token_id !== null) {
        const token = tokens.get(token_id)
        if (token?.user_id === caller.userId) return `your token “${token.name}”`
        return token !== undefined && mayNameAll ? `${name}’s token “${token.name}”` : `${name}, with a token`
      }
      if (isByOperator === true) return `the operator, as ${name}`
      return `${actor_id === caller.userId ? 'you' : name}, in the web app`
    })
  })
}

function idsOf(changes: readonly Made[], member: 'actor_id' | 'token_id'): string[] {
  return [...new Set(changes.map((change) => change[member]))].filter((id) => id !== null)
}

/** A card as it is listed with its claim. */
export interface Claimed {
  readonly claim?: Claim | null | undefined
}

/** Who holds the cards of a page, in words, by the ids of tokens. */
export type Holders = ReadonlyMap<string, string>

/** Names the holders of cards. */
export async function readHolders(reader: Reader, cards: readonly Claimed[]): Promise<Holders> {
  const claims = cards.flatMap(({ claim }) => claim ?? [])
  const names = await authorsOf(
    reader,
    claims.map(({ token_id, holder_id }) => ({ token_id, actor_id: holder_id })),
  )
  return new Map(claims.map(({ token_id }, i) => [token_id, names[i]!]))
}
