import type { VNode } from 'preact'
import { findToken } from '../../auth/tokens/issue.ts'
import type { Caller } from '../../authz/context.ts'
import type { Claim } from '../../model/claim.ts'
import type { TokenRecord } from '../../model/token.ts'
import { transact } from '../../store/transact.ts'
import { html } from '../html.ts'
import type { SignedInContext } from '../page-context.ts'
import { renderDistance, renderTime } from '../times.ts'
import { decide } from '../workspace/permission.ts'
import { icon } from './icons.ts'
import type { People } from './people.ts'

/** A card as it is listed with its claim. */
interface Claimed {
  readonly claim?: Claim | null | undefined
}

/** Who holds the cards of a page, in words, by the ids of tokens. */
export type Holders = ReadonlyMap<string, string>

/** How tokens are named to a person: the name of a token is shown to its person, and to those who may list the tokens of all. */
export function tokenNamer({ web }: SignedInContext, caller: Caller): (token: TokenRecord | undefined, person: string) => string {
  const mayNameAll = decide(web.services().engine, 'workspace.tokens', caller)?.outcome === 'allowed'
  return (token, person) => {
    if (token === undefined || (token.user_id !== caller.userId && !mayNameAll)) return `${person}, with a token`
    return token.user_id === caller.userId ? `your token “${token.name}”` : `${person}’s token “${token.name}”`
  }
}

/** Names the holders of cards. */
export async function readHolders(context: SignedInContext, caller: Caller, people: People, cards: readonly Claimed[]): Promise<Holders> {
  const holders = new Map(cards.flatMap(({ claim }) => (claim == null ? [] : [[claim.token_id, claim.holder_id] as const])))
  if (holders.size === 0) return new Map()
  const { web } = context
  const nameOf = tokenNamer(context, caller)
  return transact(web.store, caller.workspaceId, web.random, async (tx) => {
    const named = [...holders].map(async ([id, userId]) => [id, nameOf(await findToken(tx, id), people.nameOf(userId))] as const)
    return new Map(await Promise.all(named))
  })
}

/** Who holds a card on a board, and for how long. */
export function renderHolder({ claim }: Claimed, holders: Holders, now: number): VNode | undefined {
  if (claim == null) return undefined
  const { token_id, expires_at } = claim
  return html`<p class="holder">
    ${icon('claim')}<span>Claimed by ${holders.get(token_id)}, until ${renderTime(expires_at)} (${renderDistance(expires_at, now)})</span>
  </p>`
}

/** The time until the next claim on a page runs out, in milliseconds: nothing else says that it has. Undefined without one. */
export function nextExpiry(cards: readonly Claimed[], now: number): number | undefined {
  const times = cards.flatMap(({ claim }) => (claim == null ? [] : [Date.parse(claim.expires_at) - now]))
  return times.length === 0 ? undefined : Math.max(0, Math.min(...times))
}
