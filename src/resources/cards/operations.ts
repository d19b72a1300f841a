import { z } from 'zod'
import { toPage } from '../../listing/pages.ts'
import { card, type Card } from '../../model/card.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { createTombstone } from '../cascades.ts'
import { endClaim } from '../claims/changes.ts'
import { withClaims } from '../claims/present.ts'
import { withWork } from '../claims/work.ts'
import { countAll } from '../counts.ts'
import { includeParameter } from '../included.ts'
import { atLeastOne, deleted, filteredList, operation, type OperationRequest } from '../operation.ts'
import { cardAndClaim, cardAndWork, cardTarget, parentBoard } from '../targets.ts'
import { capacityMessage } from '../capacity.ts'
import { removeResource, saveResource, setArchived } from '../writes.ts'
import { removeBlockerOfAll } from './blockers.ts'
import { requireCardCapacity, requireWipCapacity, WIP_LIMIT } from './capacity.ts'
import { changeCompletion } from './completion.ts'
import { REF_TAKEN, requireFreeRef } from './external-refs.ts'
import { namedInSearch, requireNamed } from './named.ts'
import { cardCountIndexes, listCards } from './queries.ts'
import { saveCard } from './save.ts'
import { searchCards } from './search.ts'
import { cardCompletion, cardListQuery, cardSearchQuery, cardUpdate, cardWithCounts, listedCard, listedCardOfBoard } from './schema.ts'
import { withStates } from './work-states.ts'
import { createCard, moveCard } from './placing.ts'

/** Whether a card blocks others, which may become ready with its change, or may not be ready any more. */
const isBlocker = (params: Readonly<Record<string, string>>) => [indexes.blockedCards(params['card_id']!)]

/** Cards (spec §5: rows P2, P9, P10). */
export const cardOperations = [
  operation({
    id: 'cards.list',
    method: 'GET',
    path: '/boards/{board_id}/cards',
    summary:
      'Lists the cards of a board column by column. ?archived=true lists the archived ones; ?q= searches words in title and description.',
    needs: ['read', 'Card'],
    row: 'P2',
    query: cardListQuery,
    data: z.array(listedCardOfBoard),
    target: parentBoard,
    async related({ tx, query }, { board }) {
      await requireNamed(tx, board, query)
      return {}
    },
    async run(request, { board }) {
      const { tx, query, examine } = request
      const { cards, positionAfter, more } = await listCards(tx, board.id, await withStates(request, board.id, query), query, examine)
      const items = await withInclusions(request, cards)
      return toPage('cards.list', items, positionAfter(items.length - 1), more)
    },
  }),

  filteredList({
    id: 'cards.search',
    method: 'GET',
    path: '/cards',
    summary: 'Lists the cards of all boards that you have access to, such as your assigned cards. The last changed card comes first.',
    needs: ['read', 'Card'],
    row: 'P2',
    query: cardSearchQuery,
    data: z.array(listedCard),
    named: namedInSearch,
    candidates: searchCards,
  }),

  operation({
    id: 'cards.read',
    method: 'GET',
    path: '/cards/{card_id}',
    summary:
      'Returns a card. With ?include=counts,claim,work it has the numbers of its subtasks, comments and attachments, who holds it, and the state of the work on it.',
    needs: ['read', 'Card'],
    row: 'P2',
    query: z.strictObject(includeParameter('counts', 'claim', 'work')),
    data: cardWithCounts,
    target: cardTarget,
    run(request, { card }) {
      if (request.query.include === undefined) return { data: card }
      return withInclusions(request, [card]).then(([data]) => ({ data: data!, entity: null }))
    },
  }),

  createCard,

  operation({
    id: 'cards.update',
    method: 'PATCH',
    path: '/cards/{card_id}',
    summary: 'Changes the title, the description, the due time or the external reference of a card.',
    needs: ['update', 'Card'],
    row: 'P9',
    body: atLeastOne(cardUpdate),
    data: card,
    conflicts: [REF_TAKEN],
    example: { body: { due_at: '2027-01-15T17:00:00Z' } },
    target: cardAndClaim,
    run(request, loaded) {
      const { tx, body } = request
      if (body.external_ref == null) return saveCard(request, loaded.card, body)
      return requireFreeRef(tx, loaded.card.board_id, body.external_ref, loaded.card.id).then(() => saveCard(request, loaded.card, body))
    },
  }),

  moveCard,

  operation({
    id: 'cards.complete',
    method: 'PUT',
    path: '/cards/{card_id}/completion',
    summary: 'Marks a card as completed, with success or without, or as not completed.',
    needs: ['complete', 'Card'],
    row: 'P9',
    body: cardCompletion,
    data: card,
    example: { body: { completed: true } },
    target: cardAndWork,
    counts: isBlocker,
    async run(request, loaded) {
      const { completed, outcome } = request.body
      const changes = await changeCompletion(request, loaded.card, completed ? (outcome ?? 'succeeded') : null)
      return saveResource(request, keys.card, loaded.card, changes)
    },
  }),

  operation({
    id: 'cards.archive',
    method: 'POST',
    path: '/cards/{card_id}/archive',
    summary: 'Archives a card.',
    needs: ['archive', 'Card'],
    row: 'P9',
    data: card,
    target: cardAndWork,
    counts: isBlocker,
    async run(request, loaded) {
      await endClaim(request, loaded.card.id)
      return setArchived(request, keys.card, loaded.card, true)
    },
  }),

  operation({
    id: 'cards.restore',
    method: 'POST',
    path: '/cards/{card_id}/restore',
    summary: 'Restores an archived card to its place.',
    needs: ['restore', 'Card'],
    row: 'P9',
    data: card,
    conflicts: [capacityMessage('cardsPerBoard'), WIP_LIMIT],
    target: cardAndWork,
    counts: isBlocker,
    async run(request, { card: restored }) {
      const { tx } = request
      if (restored.archived_at === null) return { data: restored }
      const { column_id } = restored
      const counts = [indexes.boardActiveCards(restored.board_id), indexes.cards('active', column_id)]
      await tx.prefetch({ records: [keys.column(column_id)], counts })
      const column = tx.known(keys.column(column_id))!
      // In an archived column it stays hidden.
      if (column.archived_at === null) await requireCardCapacity(tx, restored.board_id, { cards: 1 })
      await requireWipCapacity(tx, column)
      return setArchived(request, keys.card, restored, false)
    },
  }),

  operation({
    id: 'cards.delete',
    method: 'DELETE',
    path: '/cards/{card_id}',
    summary: 'Deletes a card permanently, with its subtasks, comments and attachments. It disappears from the blockers of other cards.',
    needs: ['delete', 'Card'],
    row: 'P10',
    data: deleted,
    target: cardTarget,
    counts: isBlocker,
    async run(request, loaded) {
      await removeBlockerOfAll(request, loaded.card.id)
      await createTombstone(request, 'card', loaded.card.id)
      return removeResource(request.tx, keys.card, loaded.card)
    },
  }),
]

/** Cards with what the query includes. */
async function withInclusions(
  request: OperationRequest<{ readonly include?: ReadonlySet<string> | undefined }, any>,
  cards: readonly Card[],
): Promise<readonly z.infer<typeof cardWithCounts>[]> {
  const { tx, query } = request
  const items = await withWork(request, query, await withClaims(request, query, cards))
  if (query.include?.has('counts') !== true) return items
  const counts = await countAll(tx, cards.map(cardCountIndexes))
  return items.map((item, i) => ({ ...item, counts: counts[i] as z.infer<typeof cardWithCounts>['counts'] }))
}
