import type { Caller } from '../../authz/context.ts'
import { stateOf } from '../../auth/tokens/lifecycle.ts'
import { isAttempt, type Claim, type ClaimRecord } from '../../model/claim.ts'
import { timestamp } from '../../model/time.ts'
import type { TokenRecord } from '../../model/token.ts'
import { cardOfClaim, indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { memberOf, PAGE_SIZE } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { OperationRequest } from '../operation.ts'
import { claimReads } from '../targets.ts'

// A claim counts if it has not been ended, has not run out, and its token is active. The end of a token is so the end of all its claims,
// for the very next read: no record of a claim has to be touched.

type Work = Pick<OperationRequest, 'tx' | 'clock'>

/** The last claim of a card, and what it counts as. */
export interface CardClaim {
  /** as it is stored. undefined: the card was never claimed */
  readonly record: ClaimRecord | undefined
  /** as it counts now: a claim that expired, or whose token ended, is an attempt (src/http/claims.md, "Work that fails or asks") */
  readonly settled: ClaimRecord | undefined
  /** undefined: nobody holds the card */
  readonly live: Claim | undefined
}

/** Reads the claims of cards, as they are now. The transaction relies on them. */
export async function readClaims({ tx, clock }: Work, cardIds: readonly string[]): Promise<CardClaim[]> {
  const records: readonly unknown[] = await tx.read(cardIds.flatMap(claimReads))
  const holders = await readHolders(
    tx,
    cardIds.map((_id, i) =>
      // Stryker disable next-line ConditionalExpression: who has held a claim that was ended does not matter, and takes longer to read
      (records[2 * i] as ClaimRecord | undefined)?.expires_at == null ? undefined : (records[2 * i + 1] as TokenRecord),
    ),
  )
  const now = clock()
  const found: CardClaim[] = []
  for (const [i] of cardIds.entries()) {
    const record = records[2 * i] as ClaimRecord | undefined
    if (record?.expires_at == null) {
      found.push({ record, settled: record, live: undefined })
      continue
    }
    const token = holders[i]
    if (now < Date.parse(record.expires_at) && isHolding(token, now)) found.push({ record, settled: record, live: toClaim(record, token) })
    else found.push({ record, settled: settle(record, token), live: undefined })
  }
  return found
}

/** Reads the claim of one card. */
export async function readClaim(work: Work, cardId: string): Promise<CardClaim> {
  const [claim] = await readClaims(work, [cardId])
  return claim!
}

/** The record of a claim that has ended without another outcome. It ended when it ran out, or before that with its token. */
function settle(record: ClaimRecord, token: TokenRecord | undefined): ClaimRecord {
  const lost = { ...record, expires_at: null, lost_epoch: record.epoch }
  if (!isAttempt(record)) return lost
  const ends = [record.expires_at!, token?.revoked_at ?? record.expires_at!].toSorted()
  return { ...lost, attempts: record.attempts + 1, reason: null, failed_at: ends[0]!, not_before: null }
}

function isHolding(token: TokenRecord | undefined, now: number): token is TokenRecord {
  return token !== undefined && stateOf(token, now) === 'active'
}

/**
 * The tokens that hold what families have taken: the last of each. One read, however many they are and however often they were rotated.
 * @param first the first token of each family. One that an earlier version has rotated names its successor only
 */
async function readHolders(tx: Transaction, first: readonly (TokenRecord | undefined)[]): Promise<readonly (TokenRecord | undefined)[]> {
  const ids = [...new Set(first.flatMap((token) => lastOf(token) ?? []))]
  // Stryker disable next-line ConditionalExpression: to read nothing has the same result, only later
  if (ids.length === 0) return first
  const found: readonly unknown[] = await tx.read(ids.map(keys.tokenHash).flatMap((key) => [key, keys.token(memberOf(key, 'hash'))]))
  const last = new Map(ids.map((id, i) => [id, found[2 * i + 1] as TokenRecord | undefined]))
  return first.map((token) => {
    const id = lastOf(token)
    return id === undefined ? token : last.get(id)
  })
}

/** The id of the last token of a family; undefined: its first one was not replaced. */
function lastOf(first: TokenRecord | undefined): string | undefined {
  return first?.last ?? first?.replaced_by ?? undefined
}

function toClaim({ card_id, epoch, expires_at, taken_at, renewed_at }: ClaimRecord, { id, user_id, name }: TokenRecord): Claim {
  return { card_id, holder_id: user_id, token_id: id, token_name: name, epoch, expires_at: expires_at!, claimed_at: taken_at, renewed_at }
}

/** Whether a claim is held by the token of the caller. */
export function isHeldBy({ token_id }: Claim, { token }: Caller): boolean {
  return token_id === token?.id
}

/** The claims of a board that count now. */
export interface BoardClaims {
  /** the claimed cards, and when their claims run out: RFC 3339 */
  readonly cards: ReadonlyMap<string, string>
  /** when the next one runs out, if there is one: RFC 3339 */
  readonly next: string | undefined
}

/**
 * Reads which cards of a board are claimed now. The transaction does not rely on that: otherwise every renewal on the board would conflict with
 * it. Claims that have run out are in front of those that are read, so they cost nothing.
 */
export async function readClaimedCards({ tx, clock }: Work, { index, options }: ReturnType<typeof currentClaims>): Promise<BoardClaims> {
  const now = clock()
  const cards = new Map<string, string>()
  let next: string | undefined
  for (let after = options.after; ;) {
    const { entries, values } = await tx.range(index, { ...options, after })
    const holders = await readHolders(tx, values)
    for (const [i, entry] of entries.entries()) {
      if (!isHolding(holders[i], now)) continue
      const until = entry.slice(0, entry.indexOf(' '))
      next ??= until
      cards.set(cardOfClaim(entry), until)
    }
    if (entries.length < PAGE_SIZE) return { cards, next }
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
