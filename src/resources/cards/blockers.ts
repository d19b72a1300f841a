import { card } from '../../model/card.ts'
import { conflict, notFound } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { operation, type OperationRequest } from '../operation.ts'
import { shownCard } from '../pending-removals.ts'
import { cardAndClaim, idOf } from '../targets.ts'
import { capacityMessage, requireCapacity, requireCapacityOf } from '../capacity.ts'
import { removalOfId, removeId } from './relations.ts'
import { saveCard } from './save.ts'

const ITSELF = 'A card cannot be a blocker of itself.'
const CYCLE = 'The blocker waits for this card, directly or through others: the cards would wait for each other.'

/** Blockers of cards (src/http/README.md, "Blockers and WIP limits"; row X10). */
export const blockerOperations = [
  operation({
    id: 'blockers.add',
    method: 'PUT',
    path: '/cards/{card_id}/blockers/{blocker_id}',
    summary:
      'Makes another card of the board a blocker: the card waits until that one is completed or archived. Repeating it changes nothing.',
    needs: ['add_blocker', 'Card'],
    row: 'X10',
    data: card,
    conflicts: [ITSELF, CYCLE, capacityMessage('blockersPerCard'), capacityMessage('blockedCards'), capacityMessage('waitingCards')],
    target: cardAndClaim,
    async related({ tx, params }, { card: { id, board_id } }) {
      const blockerId = idOf('card', params['blocker_id'], 'blocker_id')
      await tx.prefetch({
        records: [keys.card(blockerId), keys.readiness(id)],
        ranges: [waitingFor(id)],
        counts: [indexes.blockedCards(blockerId)],
      })
      const blocker = tx.known(keys.card(blockerId))
      if (blocker?.board_id !== board_id) throw notFound('blocker_id')
      return { blocker }
    },
    async run(request, { card: blocked, blocker }) {
      if (blocked.blocker_ids.includes(blocker.id)) return { data: blocked }
      if (blocked.id === blocker.id) throw conflict(ITSELF)
      requireCapacityOf(blocked.blocker_ids.length, 'blockersPerCard')
      await requireBlocker(request.tx, blocker.id)
      await requireNoCycle(request, blocked.id, blocker.id)
      return saveCard(request, blocked, { blocker_ids: [...blocked.blocker_ids, blocker.id] })
    },
  }),

  operation({
    id: 'blockers.remove',
    method: 'DELETE',
    path: '/cards/{card_id}/blockers/{blocker_id}',
    summary: 'Removes a blocker of a card. The other card remains.',
    needs: ['remove_blocker', 'Card'],
    row: 'X10',
    data: card,
    target: cardAndClaim,
    ...removalOfId('blocker_ids', 'blocker_id'),
  }),
]

/** What a further step of {@link requireNoCycle} counts as, in characters of examined cards: eight steps cost a unit. */
const STEP = 64 * 1024

/**
 * Checks that a card can be the blocker of one more. The commit checks it again.
 * @throws {ApiError} `conflict`, with `limit`
 */
export async function requireBlocker(tx: Transaction, blockerId: string): Promise<void> {
  await requireCapacity(tx, indexes.blockedCards(blockerId), 'blockedCards')
}

/**
 * Checks that a blocker does not wait for the card that it is to block. All cards that wait for that one are found in the indexes, and the
 * commit requires that these have not changed. If two commits would close a cycle together, each changes an index that the other one
 * relies on, so one of them starts again. Each step needs those that the step before has found, and a client decides how many steps there
 * are: so they are charged.
 * @throws {ApiError} `conflict`
 */
async function requireNoCycle({ tx, examine }: Pick<OperationRequest, 'tx' | 'examine'>, cardId: string, blockerId: string): Promise<void> {
  const waiting = new Set([cardId])
  for (let next = [cardId]; next.length > 0;) {
    if (next[0] !== cardId) await examine(STEP)
    const pages = (await tx.load({ ranges: next.map(waitingFor) })).ranges
    next = [...new Set(pages.flatMap(({ entries }) => entries.map(lastWord)))].filter((id) => !waiting.has(id))
    for (const id of next) waiting.add(id)
    if (waiting.has(blockerId)) throw conflict(CYCLE)
    requireCapacityOf(waiting.size - 2, 'waitingCards')
  }
}

/** The cards that have a card as a blocker. */
function waitingFor(id: string) {
  return { index: indexes.blockedCards(id), options: { limit: limits.blockedCards, entriesOnly: true } } as const
}

/** Removes a card that is deleted from those that it is a blocker of: at most {@link limits.blockedCards}. */
export async function removeBlockerOfAll(request: Pick<OperationRequest, 'tx' | 'clock'>, blockerId: string): Promise<void> {
  const { tx } = request
  const index = indexes.blockedCards(blockerId)
  if ((await tx.count(index, 0)) === 0) return
  const [removals, { values }] = [await tx.get(keys.removals()), await tx.all(index)]
  for (const blocked of values) {
    if (blocked !== undefined) await removeId(request, shownCard(blocked, removals), 'blocker_ids', blockerId)
  }
}
