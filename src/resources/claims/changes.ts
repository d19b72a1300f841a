import { expiryOf } from '../../auth/tokens/lifecycle.ts'
import { tokenOf } from '../../authz/context.ts'
import type { Card } from '../../model/card.ts'
import type { Claim, ClaimRecord } from '../../model/claim.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { cardOfClaim } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { OperationRequest } from '../operation.ts'
import type { ClaimEvent } from '../result.ts'
import { requireCapacityOf } from '../capacity.ts'
import { currentClaims, type CardClaim } from './present.ts'

/** Gives a card to the calling token, or renews its claim. The claim that counts now, if there is one, is the caller's. */
export function grantClaim(
  { tx, clock, caller }: Pick<OperationRequest, 'tx' | 'clock' | 'caller'>,
  { id: card_id, board_id }: Pick<Card, 'id' | 'board_id'>,
  { record, live }: CardClaim,
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
  const taken_at = live === undefined ? granted.renewed_at : record!.taken_at
  tx.put(keys.claim(card_id), { ...granted, board_id, token_hash: token.hash, taken_at })
  if (live !== undefined) return { claim: granted, event: 'renewed' }
  return { claim: granted, event: record?.expires_at == null ? 'taken' : 'taken_over' }
}

/** @throws {ApiError} `conflict` if a board has as many claims as it can have */
export async function requireClaimCapacity({ tx, clock }: Pick<OperationRequest, 'tx' | 'clock'>, boardId: string): Promise<void> {
  const { index, options } = currentClaims(boardId, clock)
  requireCapacityOf((await tx.range(index, { ...options, entriesOnly: true })).entries.length, 'claimsPerBoard')
}

/** Ends the claim of a card. Its record stays, with the epoch. */
export async function endClaim(tx: Transaction, cardId: string): Promise<void> {
  end(tx, await tx.get(keys.claim(cardId)))
}

/** Ends the claims of the cards of a column. A card that is claimed meanwhile has read the column, so one of both commits fails. */
export async function endClaimsOfColumn({ tx, clock }: Pick<OperationRequest, 'tx' | 'clock'>, column: { id: string; board_id: string }) {
  // No more than a board can have: a few more if several processes took some at once.
  const { index, options } = currentClaims(column.board_id, clock)
  const { entries } = await tx.range(index, { ...options, limit: 2 * limits.claimsPerBoard, weak: false, entriesOnly: true })
  const cardIds = entries.map(cardOfClaim)
  const cards = await tx.read(cardIds.map((id) => keys.card(id)))
  const claimed = cardIds.filter((_id, i) => (cards[i] as Card | undefined)?.column_id === column.id)
  for (const record of await tx.read(claimed.map((id) => keys.claim(id)))) end(tx, record as ClaimRecord | undefined)
}

function end(tx: Transaction, record: ClaimRecord | undefined): void {
  if (record?.expires_at != null) tx.put(keys.claim(record.card_id), { ...record, expires_at: null })
}
