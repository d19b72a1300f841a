import { z } from 'zod'
import { andThen } from '../../model/awaitable.ts'
import { toPage } from '../../listing/pages.ts'
import { AT_END, notNextToItself } from '../../listing/placement.ts'
import { positionAt } from '../../listing/ranks.ts'
import { card, type Card } from '../../model/card.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { createTombstone } from '../cascades.ts'
import { countAttempt, endClaim, endInSuccess, moveWork } from '../claims/changes.ts'
import { withClaims } from '../claims/present.ts'
import { withWork } from '../claims/work.ts'
import { countAll } from '../counts.ts'
import { includeParameter } from '../included.ts'
import { atLeastOne, deleted, filteredList, operation, type OperationRequest } from '../operation.ts'
import { cardAndClaim, cardAndWork, cardTarget, parentBoard } from '../targets.ts'
import { capacityMessage } from '../capacity.ts'
import { createResource, removeResource, saveResource, setArchived } from '../writes.ts'
import { additionReads, addToNew, loadAdditions } from './additions.ts'
import { removeBlockerOfAll } from './blockers.ts'
import { requireCardCapacity, requireWipCapacity, WIP_LIMIT } from './capacity.ts'
import { cardsOf, destinationConflicts, loadDestination, requireOpen } from './destination.ts'
import { namedInSearch, requireNamed } from './named.ts'
import { cardCountIndexes, listCards } from './queries.ts'
import { saveCard } from './save.ts'
import { searchCards } from './search.ts'
import {
  cardCompletion,
  cardCreate,
  cardListQuery,
  cardSearchQuery,
  cardMove,
  cardUpdate,
  cardWithCounts,
  listedCard,
  listedCardOfBoard,
} from './schema.ts'
import { withStates } from './work-states.ts'

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

  operation({
    id: 'cards.create',
    method: 'POST',
    path: '/boards/{board_id}/cards',
    summary:
      'Creates a card in a column, before or after another card, or at the end: with labels, assignees, blockers and subtasks, if the body has them.',
    needs: ['create', 'Card'],
    row: 'P9',
    body: cardCreate,
    data: card,
    status: 201,
    conflicts: [capacityMessage('cardsPerBoard'), capacityMessage('blockedCards'), WIP_LIMIT, ...destinationConflicts],
    example: {
      body: { column_id: '{column_id}', title: 'Publish the changelog', label_ids: ['{label_id}'], subtasks: ['Ask for a review'] },
    },
    target: parentBoard,
    counts: ({ board_id }) => [indexes.boardActiveCards(board_id!)],
    related({ tx, body }, { board }) {
      const destined = loadDestination(tx, board, body, undefined, additionReads(body, board))
      // V8 takes microseconds to spread two objects into one.
      return andThen(destined, (destination) => andThen(loadAdditions(tx, body, board), (found) => Object.assign(found, destination)))
    },
    also: [
      { member: 'label_ids', parameter: 'label_id', permission: 'apply_label Card', row: 'P12', contexts: ({ labels }) => labels },
      { member: 'assignee_ids', parameter: 'user_id', permission: 'assign Card', row: 'P12', contexts: ({ assignees }) => assignees },
      { member: 'blocker_ids', parameter: 'blocker_id', permission: 'add_blocker Card', row: 'X10', contexts: ({ blockers }) => blockers },
      { member: 'subtasks', parameter: 'subtasks', permission: 'create Subtask', row: 'P12', contexts: ({ subtasks }) => subtasks },
    ],
    async run(request, { board, column, placement = AT_END }) {
      requireOpen({ column, placement })
      await requireCardCapacity(request.tx, board.id, { cards: 1 })
      await requireWipCapacity(request.tx, column)
      const { title, description, due_at, label_ids, assignee_ids, blocker_ids } = request.body
      const created = createResource<Card>(request, 'card', keys.card, {
        board_id: board.id,
        column_id: column.id,
        title,
        description,
        position: await positionAt(request.tx, cardsOf(column.id), placement),
        due_at,
        completed_at: null,
        completed_by_id: null,
        archived_at: null,
        assignee_ids,
        label_ids,
        blocker_ids,
        cover_attachment_id: null,
        creator_id: request.caller.userId,
      })
      await addToNew(request, created.data, request.body)
      return created
    },
  }),

  operation({
    id: 'cards.update',
    method: 'PATCH',
    path: '/cards/{card_id}',
    summary: 'Changes the title, the description or the due time of a card.',
    needs: ['update', 'Card'],
    row: 'P9',
    body: atLeastOne(cardUpdate),
    data: card,
    example: { body: { due_at: '2027-01-15T17:00:00Z' } },
    target: cardAndClaim,
    run: (request, loaded) => saveCard(request, loaded.card, request.body),
  }),

  operation({
    id: 'cards.move',
    method: 'POST',
    path: '/cards/{card_id}/move',
    summary: 'Moves a card within its column, or to another column of its board: by default to its end.',
    needs: ['move', 'Card'],
    row: 'P9',
    body: cardMove,
    data: card,
    bodyRule: notNextToItself('card_id'),
    conflicts: [capacityMessage('cardsPerBoard'), WIP_LIMIT, ...destinationConflicts],
    example: { body: { column_id: '{column_id}', to: 'first' } },
    target: cardAndWork,
    related: ({ tx, body }, { board, card: moved }) => loadDestination(tx, board, body, moved.column_id, [keys.column(moved.column_id)]),
    async run(request, { card: moved, ...destination }) {
      requireOpen(destination)
      const { column, placement } = destination
      const isInColumn = moved.column_id === column.id
      if (isInColumn && placement === undefined) return { data: moved }
      // A card that was hidden with its column becomes active.
      const isHidden = request.tx.known(keys.column(moved.column_id))?.archived_at != null
      if (isHidden && moved.archived_at === null) await requireCardCapacity(request.tx, moved.board_id, { cards: 1 })
      if (!isInColumn && moved.archived_at === null) await requireWipCapacity(request.tx, column)
      await (isInColumn ? countAttempt(request, moved.id) : moveWork(request, moved.id, column))
      const position = await positionAt(request.tx, cardsOf(column.id), placement ?? AT_END, isInColumn ? moved : undefined)
      return saveResource(request, keys.card, moved, { column_id: column.id, position })
    },
  }),

  operation({
    id: 'cards.complete',
    method: 'PUT',
    path: '/cards/{card_id}/completion',
    summary: 'Marks a card as completed, or as not completed.',
    needs: ['complete', 'Card'],
    row: 'P9',
    body: cardCompletion,
    data: card,
    example: { body: { completed: true } },
    target: cardAndWork,
    counts: isBlocker,
    async run(request, loaded) {
      const { completed } = request.body
      if ((loaded.card.completed_at !== null) === completed) return { data: loaded.card }
      if (completed) await endInSuccess(request, loaded.card.id)
      const done = { completed_at: timestamp(request.clock), completed_by_id: request.caller.userId }
      return saveResource(request, keys.card, loaded.card, completed ? done : { completed_at: null, completed_by_id: null })
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
