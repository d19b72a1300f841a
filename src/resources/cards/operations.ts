import { z } from 'zod'
import { toPage } from '../../listing/pages.ts'
import { AT_END, notNextToItself } from '../../listing/placement.ts'
import { positionAt } from '../../listing/ranks.ts'
import { card } from '../../model/card.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { createTombstone } from '../cascades.ts'
import { countAll, includeCounts, withCounts } from '../counts.ts'
import { atLeastOne, deleted, operation } from '../operation.ts'
import { cardTarget, parentBoard } from '../targets.ts'
import { capacityMessage, createResource, removeResource, requireCapacity, saveResource, setArchived } from '../writes.ts'
import { cardsOf, destinationConflicts, loadDestination, requireOpen } from './destination.ts'
import { cardCountIndexes, listCards } from './queries.ts'
import { cardCompletion, cardCreate, cardListName, cardListQuery, cardMove, cardUpdate, cardWithCounts } from './schema.ts'

const entity = (params: Readonly<Record<string, string>>) => keys.card(params['card_id']!)

/** Cards (spec §5: rows P2, P9, P10). */
export const cardOperations = [
  operation({
    id: 'cards.list',
    method: 'GET',
    path: '/boards/{board_id}/cards',
    summary:
      'Lists the cards of a board column by column, or with ?updated_since= in the order of their updates. ?archived=true lists the archived ones; ?q= searches title and description.',
    needs: ['read', 'Card'],
    row: 'P2',
    query: cardListQuery,
    data: z.array(cardWithCounts),
    target: parentBoard,
    async run({ tx, query, beginScan }, { board }) {
      const { cards, position, more } = await listCards(tx, board.id, query, query, beginScan)
      const list = cardListName(query)
      if (query.include === undefined) return toPage(list, cards, position, more)
      const counts = await countAll(tx, cards.map(cardCountIndexes))
      const items = cards.map((found, i) => ({ ...found, counts: counts[i] as z.infer<typeof cardWithCounts>['counts'] }))
      return toPage(list, items, position, more)
    },
  }),

  operation({
    id: 'cards.read',
    method: 'GET',
    path: '/cards/{card_id}',
    summary: 'Returns a card. With ?include=counts it has the numbers of its subtasks, comments and attachments.',
    needs: ['read', 'Card'],
    row: 'P2',
    query: z.strictObject(includeCounts),
    data: cardWithCounts,
    entity,
    target: cardTarget,
    run: ({ tx, query }, loaded) => withCounts(tx, query, loaded.card, cardCountIndexes(loaded.card)),
  }),

  operation({
    id: 'cards.create',
    method: 'POST',
    path: '/boards/{board_id}/cards',
    summary: 'Creates a card in a column, before or after another card, or at the end.',
    needs: ['create', 'Card'],
    row: 'P9',
    body: cardCreate,
    data: card,
    status: 201,
    entity: (params) => keys.board(params['board_id']!),
    conflicts: [capacityMessage('cardsPerBoard'), ...destinationConflicts],
    example: { body: { column_id: '{column_id}', title: 'Publish the changelog' } },
    target: parentBoard,
    counts: ({ board_id }) => [indexes.boardCards(board_id!)],
    related: ({ tx, body }, { board }) => loadDestination(tx, board, body),
    async run(request, { board, ...destination }) {
      requireOpen(destination)
      await requireCapacity(request.tx, indexes.boardCards(board.id), 'cardsPerBoard')
      const { column, placement = AT_END } = destination
      const { title, description, due_at } = request.body
      return createResource(request, 'card', keys.card, {
        board_id: board.id,
        column_id: column.id,
        title,
        description,
        position: await positionAt(request.tx, cardsOf(column.id), placement),
        due_at,
        completed_at: null,
        archived_at: null,
        assignee_ids: [],
        label_ids: [],
        cover_attachment_id: null,
        creator_id: request.caller.userId,
      })
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
    entity,
    example: { body: { due_at: '2027-01-15T17:00:00Z' } },
    target: cardTarget,
    run: async (request, loaded) => saveResource(request, keys.card, loaded.card, request.body),
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
    entity,
    bodyRule: notNextToItself('card_id'),
    conflicts: destinationConflicts,
    example: { body: { column_id: '{column_id}', to: 'first' } },
    target: cardTarget,
    related: ({ tx, body }, loaded) => loadDestination(tx, loaded.board, body, loaded.card.column_id),
    async run(request, { card: moved, ...destination }) {
      requireOpen(destination)
      const { column, placement } = destination
      const isInColumn = moved.column_id === column.id
      if (isInColumn && placement === undefined) return { data: moved }
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
    entity,
    example: { body: { completed: true } },
    target: cardTarget,
    async run(request, loaded) {
      const { completed } = request.body
      if ((loaded.card.completed_at !== null) === completed) return { data: loaded.card }
      return saveResource(request, keys.card, loaded.card, { completed_at: completed ? timestamp(request.clock) : null })
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
    entity,
    target: cardTarget,
    run: async (request, loaded) => setArchived(request, keys.card, loaded.card, true),
  }),

  operation({
    id: 'cards.restore',
    method: 'POST',
    path: '/cards/{card_id}/restore',
    summary: 'Restores an archived card to its place.',
    needs: ['restore', 'Card'],
    row: 'P9',
    data: card,
    entity,
    target: cardTarget,
    run: async (request, loaded) => setArchived(request, keys.card, loaded.card, false),
  }),

  operation({
    id: 'cards.delete',
    method: 'DELETE',
    path: '/cards/{card_id}',
    summary: 'Deletes a card permanently, with its subtasks, comments and attachments.',
    needs: ['delete', 'Card'],
    row: 'P10',
    data: deleted,
    entity,
    target: cardTarget,
    async run(request, loaded) {
      await createTombstone(request, 'card', loaded.card.id)
      return removeResource(request.tx, keys.card, loaded.card)
    },
  }),
]
