import type { ChangeRecord } from '../../model/change.ts'
import type { Claim } from '../../model/claim.ts'
import { keys } from '../../store/keys.ts'
import type { Reader } from '../reader.ts'

interface Made extends Pick<ChangeRecord, 'actor_id' | 'token_id' | 'token_name'> {
  /** whether the operator made it as a member */
  readonly isByOperator?: boolean
}

/**
 * Who made changes, in words: "your token “CI”", "Ana’s token “agent-03”", "Ana, in the web app".
 * @param caller as the changes were read
 */
export async function authorsOf(reader: Reader, changes: readonly Made[], { userId } = reader.caller()): Promise<string[]> {
  const userIds = [...new Set(changes.flatMap(({ actor_id }) => actor_id ?? []))]
  const members = await reader.transact((tx) => tx.read(userIds.map((id) => keys.membership(id))))
  const names = new Map(userIds.map((id, i) => [id, members[i]?.display_name]))
  return changes.map(({ actor_id, token_id, token_name, isByOperator }): string => {
    if (actor_id === null) return 'the operator'
    const name = names.get(actor_id) ?? 'a former member'
    // Changes from before tokens were named have no name.
    if (token_id !== null && token_name == null) return `${name}, with a token`
    if (token_id !== null) return `${actor_id === userId ? 'your' : `${name}’s`} token “${token_name}”`
    if (isByOperator === true) return `the operator, as ${name}`
    return `${actor_id === userId ? 'you' : name}, in the web app`
  })
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
    claims.map(({ token_id, token_name, holder_id }) => ({ token_id, token_name, actor_id: holder_id })),
  )
  return new Map(claims.map(({ token_id }, i) => [token_id, names[i]!]))
}
