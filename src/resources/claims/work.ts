import { blockersOf, type Card } from '../../model/card.ts'
import { isStuck, NO_WORK } from '../../model/claim.ts'
import type { Work } from '../../model/work.ts'
import { keys } from '../../store/keys.ts'
import type { OperationRequest } from '../operation.ts'
import { readClaims, type CardClaim } from './present.ts'

type Reading = Pick<OperationRequest, 'tx' | 'clock'>

/**
 * What the work on a card has come to.
 * @param isBlocked whether a blocker of the card is open
 * @param now milliseconds since 1970
 */
export function workOf(card: Card, { settled, live }: Pick<CardClaim, 'settled' | 'live'>, isBlocked: boolean, now: number): Work {
  const { attempts, reason, failed_at, not_before, question_id } = settled ?? NO_WORK
  const isRetrying = not_before !== null && now < Date.parse(not_before)
  const states: readonly (readonly [state: Work['state'], holds: boolean])[] = [
    ['done', card.completed_at !== null],
    ['archived', card.archived_at !== null],
    ['claimed', live !== undefined],
    ['waiting', question_id !== null],
    ['stuck', settled !== undefined && isStuck(settled, attempts)],
    ['blocked', isBlocked],
    ['retrying', isRetrying],
  ]
  const state = states.find(([, holds]) => holds)?.[0] ?? 'ready'
  return { state, attempts, reason, failed_at, not_before, question_id }
}

/** Reads the work on cards, as it is now. The transaction relies on it. */
export async function readWorks({ tx, clock }: Reading, cards: readonly Card[]): Promise<Work[]> {
  // Stryker disable next-line ConditionalExpression,EqualityOperator,MethodExpression: to read the readiness of cards that have none only takes longer
  const withBlockers = cards.filter((card) => blockersOf(card).length > 0)
  // Stryker disable next-line ConditionalExpression,EqualityOperator: neither does it matter to read nothing
  if (withBlockers.length > 0) await tx.read(withBlockers.map(({ id }) => keys.readiness(id)))
  const claims = await readClaims(
    { tx, clock },
    cards.map(({ id }) => id),
  )
  return cards.map((card, i) => workOf(card, claims[i]!, isBlocked(tx, card), clock()))
}

/** Whether a blocker of a card is open. Its readiness was read, if it has blockers. */
export function isBlocked(tx: Reading['tx'], card: Card): boolean {
  return blockersOf(card).length > 0 && tx.known(keys.readiness(card.id))?.open_blocker_ids.length !== 0
}

/** Cards with their work, if the query asks for it. A response with it has no ETag of a card: it changes without it. */
export async function withWork<Item extends Card>(
  request: Reading,
  { include }: { readonly include?: ReadonlySet<string> | undefined },
  cards: readonly Item[],
): Promise<readonly (Item & { readonly work?: Work })[]> {
  if (include?.has('work') !== true) return cards
  const works = await readWorks(request, cards)
  return cards.map((card, i) => ({ ...card, work: works[i]! }))
}
