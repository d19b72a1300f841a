import type { Caller } from '../../authz/context.ts'
import { stateOf } from '../../auth/tokens/lifecycle.ts'
import type { Claim, ClaimRecord } from '../../model/claim.ts'
import { timestamp } from '../../model/time.ts'
import type { TokenRecord } from '../../model/token.ts'
import { cardOfClaim, indexes } from '../../store/indexes.ts'
import { keys, type Key } from '../../store/keys.ts'
import { PAGE_SIZE, type Read } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { OperationRequest } from '../operation.ts'

// A claim counts if it has not been ended, has not run out, and its token is active. The end of a token is so the end of all its claims, for
// the very next read: no record of a claim has to be touched.

type Work = Pick<OperationRequest, 'tx' | 'clock'>

/** The last claim of a card, and what it counts as. */
export interface CardClaim {
  /** undefined: the card was never claimed */
  readonly record: ClaimRecord | undefined
  /** undefined: nobody holds the card */
  readonly live: Claim | undefined
}

/** What is read of the claim of a card. @param at the index of the first of these references in the read */
export function claimReads(cardId: string, at: number) {
  return [keys.claim(cardId), keys.token(`{${at}.token_hash}`)] as const
}

/** Reads the claims of cards, as they are now. The transaction relies on them. */
export async function readClaims({ tx, clock }: Work, cardIds: readonly string[]): Promise<CardClaim[]> {
  const records: readonly unknown[] = await tx.read(cardIds.flatMap((id, i): Read[] => [...claimReads(id, 2 * i)]))
  const now = clock()
  const found: CardClaim[] = []
  for (const [i] of cardIds.entries()) {
    const record = records[2 * i] as ClaimRecord | undefined
    const token = isCurrent(record, now) ? await holderOf(tx, records[2 * i + 1] as TokenRecord | undefined, now) : undefined
    found.push({ record, live: record && token && toClaim(record, token) })
  }
  return found
}

/** Reads the claim of one card. */
export async function readClaim(work: Work, cardId: string): Promise<CardClaim> {
  const [claim] = await readClaims(work, [cardId])
  return claim!
}

function isCurrent(record: ClaimRecord | undefined, now: number): boolean {
  return record?.expires_at != null && now < Date.parse(record.expires_at)
}

/** The token that holds what a token has taken: itself, or its successor. @returns undefined if it has ended */
async function holderOf(tx: Transaction, token: TokenRecord | undefined, now: number): Promise<TokenRecord | undefined> {
  let holder = token
  while (holder !== undefined && holder.replaced_by !== null) {
    const successor: readonly [Key<{ hash: string }>, Key<TokenRecord>] = [keys.tokenHash(holder.replaced_by), keys.token('{0.hash}')]
    ;[, holder] = await tx.read(successor)
  }
  return holder !== undefined && stateOf(holder, now) === 'active' ? holder : undefined
}

function toClaim({ card_id, epoch, expires_at, renewed_at }: ClaimRecord, { id, user_id }: TokenRecord): Claim {
  return { card_id, holder_id: user_id, token_id: id, epoch, expires_at: expires_at!, renewed_at }
}

/** Whether a claim is held by the token of the caller. */
export function isHeldBy({ token_id }: Claim, { token }: Caller): boolean {
  return token_id === token?.id
}

/** The claims of a board that count now. */
export interface BoardClaims {
  readonly cardIds: ReadonlySet<string>
  /** when the next one runs out, if there is one: RFC 3339 */
  readonly next: string | undefined
}

/**
 * Reads which cards of a board are claimed. The transaction does not rely on that: otherwise every renewal on the board would conflict with it.
 * Claims that have run out are in front of those that are read, so they cost nothing.
 */
export async function readClaimedCards({ tx, clock }: Work, { index, options }: ReturnType<typeof currentClaims>): Promise<BoardClaims> {
  const now = clock()
  const cardIds = new Set<string>()
  let next: string | undefined
  for (let after = options.after; ;) {
    const { entries, values } = await tx.range(index, { ...options, after })
    for (const [i, entry] of entries.entries()) {
      if ((await holderOf(tx, values[i], now)) === undefined) continue
      next ??= entry.slice(0, entry.indexOf(' '))
      cardIds.add(cardOfClaim(entry))
    }
    if (entries.length < PAGE_SIZE) return { cardIds, next }
    after = entries.at(-1)!
  }
}

/** What {@link readClaimedCards} reads first: the claims of a board that have not run out, with their tokens. */
export function currentClaims(boardId: string, clock: OperationRequest['clock']) {
  return { index: indexes.claims(boardId), options: { after: `${timestamp(clock)} ~`, limit: PAGE_SIZE, weak: true } }
}

/** Cards with their claims, if the query asks for them. A response with claims has no ETag of a card: they change without it. */
export async function withClaims<Item extends { readonly id: string }>(
  work: Work,
  { include }: { readonly include?: ReadonlySet<string> | undefined },
  cards: readonly Item[],
): Promise<readonly (Item & { readonly claim?: Claim | null })[]> {
  if (include?.has('claim') !== true) return cards
  const claims = await readClaims(
    work,
    cards.map(({ id }) => id),
  )
  return cards.map((card, i) => ({ ...card, claim: claims[i]!.live ?? null }))
}

/** A filter of the cards of a board, with those that are claimed if it asks which are ready. */
export async function withClaimed<Filter extends { readonly ready?: boolean | undefined }>(
  work: Work,
  boardId: string,
  filter: Filter,
): Promise<Filter & { readonly claimed?: ReadonlySet<string> }> {
  if (filter.ready === undefined) return filter
  const { cardIds: claimed } = await readClaimedCards(work, currentClaims(boardId, work.clock))
  return { ...filter, claimed }
}
