import { expiryOf } from '../../auth/tokens/lifecycle.ts'
import { tokenOf } from '../../authz/context.ts'
import type { Awaitable } from '../../model/awaitable.ts'
import type { Card } from '../../model/card.ts'
import { NO_ATTEMPTS, NO_WORK, withRelease, type Claim, type ClaimRecord } from '../../model/claim.ts'
import type { Column } from '../../model/column.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { familyOf } from '../../model/token.ts'
import { retrySeconds } from '../../model/work.ts'
import { cardOfClaim } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { OperationRequest } from '../operation.ts'
import type { ClaimEvent } from '../result.ts'
import { requireCapacityOf } from '../capacity.ts'
import { currentClaims, isHeldBy, readClaim, readClaims, type CardClaim } from './present.ts'

type Write = Pick<OperationRequest, 'tx' | 'clock'>

/** Gives a card to the calling token, or renews its claim. The claim that counts now, if there is one, is the caller's. */
export function grantClaim(
  { tx, clock, caller }: Write & Pick<OperationRequest, 'caller'>,
  { id: card_id, board_id }: Pick<Card, 'id' | 'board_id'>,
  { max_attempts }: Pick<Column, 'max_attempts'>,
  { record, settled, live }: CardClaim,
  seconds: number,
): { readonly claim: Claim; readonly event: ClaimEvent } {
  const token = tokenOf(caller)
  const now = clock()
  const epoch = (record?.epoch ?? 0) + (live === undefined ? 1 : 0)
  const granted = {
    card_id,
    holder_id: caller.userId,
    token_id: token.id,
    epoch,
    // A token that has expired holds nothing.
    expires_at: timestamp(() => Math.min(now + seconds * 1000, expiryOf(token))),
    renewed_at: timestamp(() => now),
  }
  if (live !== undefined) {
    tx.put(keys.claim(card_id), { ...record!, ...granted, token_hash: familyOf(token) })
    return { claim: { ...granted, token_name: token.name, claimed_at: record!.taken_at }, event: 'renewed' }
  }
  const work = settled ?? NO_WORK
  tx.put(keys.claim(card_id), {
    ...work,
    ...granted,
    board_id,
    token_hash: familyOf(token),
    taken_at: granted.renewed_at,
    // If this claim runs out, nobody waits for a time.
    not_before: null,
    // The column may allow fewer than before: there is one more for whoever takes the card.
    max_attempts: max_attempts && Math.max(max_attempts, work.attempts + 1),
    was_moved: false,
    lost_epoch: work.lost_epoch,
  })
  // The attempt may have been counted by a write before.
  return {
    claim: { ...granted, token_name: token.name, claimed_at: granted.renewed_at },
    event: record !== undefined && settled!.lost_epoch === record.epoch ? 'taken_over' : 'taken',
  }
}

/** @throws {ApiError} `conflict` if a board has as many claims as it can have */
export async function requireClaimCapacity({ tx, clock }: Write, boardId: string): Promise<void> {
  const { index, options } = currentClaims(boardId, clock)
  requireCapacityOf((await tx.range(index, { ...options, entriesOnly: true })).entries.length, 'claimsPerBoard')
}

/** Ends the claim of a card: it has an outcome. Its record stays, with the epoch. */
export async function endClaim(request: Write, cardId: string): Promise<void> {
  end(request, await readClaim(request, cardId))
}

/**
 * Ends it because its holder has released the card, or somebody has taken it away. Nobody is offered the card for `retry_after` seconds,
 * and who has released it not for a minute.
 */
export function releaseClaim(
  { tx, clock, caller }: Write & Pick<OperationRequest, 'caller'>,
  { record, settled, live }: CardClaim,
  retry_after = 0,
): void {
  const now = clock()
  const { card_id, token_hash } = settled!
  const releases = isHeldBy(live!, caller) && { releases: withRelease(settled!, token_hash, tx.revisionOf(keys.card(card_id))!, now) }
  const not_before = retry_after === 0 ? null : timestamp(() => now + retry_after * 1000)
  save(tx, record, { ...settled!, expires_at: null, not_before, ...releases })
}

/** The same because the card is completed: its attempts are forgotten. */
export async function endInSuccess(request: Write, cardId: string): Promise<void> {
  end(request, await readClaim(request, cardId), NO_ATTEMPTS)
}

/** Ends the claims of the cards of a column. A card that is claimed meanwhile has read the column, so one of both commits fails. */
export async function endClaimsOfColumn(request: Write, column: { id: string; board_id: string }) {
  const { tx, clock } = request
  // No more than a board can have: a few more if several processes took some at once.
  const { index, options } = currentClaims(column.board_id, clock)
  // Stryker disable next-line BooleanLiteral: with the records, it only takes longer
  const { entries } = await tx.range(index, { ...options, limit: 2 * limits.claimsPerBoard, weak: false, entriesOnly: true })
  const cardIds = entries.map(cardOfClaim)
  const cards = await tx.read(cardIds.map((id) => keys.card(id)))
  const claimed = cardIds.filter((_id, i) => (cards[i] as Card | undefined)?.column_id === column.id)
  for (const claim of await readClaims(request, claimed)) end(request, claim)
}

/** Writes what a claim has come to, if that is something new. */
function end({ tx }: Write, { record, settled }: CardClaim, changes: Partial<ClaimRecord> = {}): void {
  if (settled === undefined) return
  save(tx, record, { ...settled, expires_at: null, ...changes })
}

function save(tx: Write['tx'], before: ClaimRecord | undefined, after: ClaimRecord): void {
  const names = Object.keys(after) as (keyof ClaimRecord)[]
  // Stryker disable next-line OptionalChaining: what a claim has come to is only known of one that is stored
  if (names.some((name) => after[name] !== before?.[name])) tx.put(keys.claim(after.card_id), after)
}

/** Counts the attempt of a claim that was read and has run out. If it was not read, nothing is written. */
export function countAttempt(request: Write, cardId: string): Awaitable<void> {
  const { tx } = request
  if (tx.known(keys.claim(cardId))?.expires_at == null) return undefined
  return readClaim(request, cardId).then(({ record, settled }) => save(tx, record, settled!))
}

/**
 * Ends a claim because the attempt has failed. The card is tried again after `retry_after` seconds, or the longer the more attempts have
 * failed.
 */
export function failAttempt(
  { tx, clock }: Write,
  { settled }: CardClaim,
  { reason, retry_after }: { readonly reason: string; readonly retry_after?: number | undefined },
): ClaimRecord {
  const { attempts: before, ...claim } = settled!
  const [attempts, now] = [before + 1, clock()]
  const seconds = retry_after ?? Math.min(retrySeconds.first * 2 ** (attempts - 1), retrySeconds.most)
  const not_before = seconds === 0 ? null : timestamp(() => now + seconds * 1000)
  const failed = { ...claim, expires_at: null, attempts, reason, failed_at: timestamp(() => now), not_before }
  tx.put(keys.claim(claim.card_id), failed)
  return failed
}

/** Ends a claim because its holder has asked a question. */
export function waitForAnswer({ tx }: Write, { settled }: CardClaim, questionId: string): void {
  tx.put(keys.claim(settled!.card_id), { ...settled!, expires_at: null, question_id: questionId })
}

/**
 * The work on a card goes on: its question is answered, or it was withdrawn.
 * @param answerId null: withdrawn
 */
export function goOn({ tx }: Write, { record, settled }: CardClaim, answerId: string | null): void {
  save(tx, record, { ...settled!, question_id: null, ...(answerId !== null && { answer_id: answerId }) })
}

/** Forgets the attempts in a row that ended without success. A claim of the card goes on. */
export function forgetAttempts({ tx }: Write, { record, settled }: CardClaim): ClaimRecord | undefined {
  if (settled === undefined) return undefined
  // Whoever has released the card is offered it again, too.
  const after = { ...settled, ...NO_ATTEMPTS, ...(settled.releases !== undefined && settled.releases.length > 0 && { releases: [] }) }
  save(tx, record, after)
  return after
}

/** Forgets them because the card is in another column now. Under a claim, that is its outcome. */
export async function moveWork(request: Write, cardId: string, { max_attempts }: Pick<Column, 'max_attempts'>): Promise<void> {
  const { record, settled } = await readClaim(request, cardId)
  if (settled !== undefined) save(request.tx, record, { ...settled, ...NO_ATTEMPTS, max_attempts, was_moved: true })
}
