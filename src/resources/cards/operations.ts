import { cardCompletion, cardCreate, cardMove, cardUpdate } from './schema.ts'
import { z } from 'zod'
import { card, type Card } from '../../model/card.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { notNextToItself, placeOf } from '../../listing/anchors.ts'
import { cardEntity, columnList, loadTheCard, saveCard } from './writing.ts'
import { ARCHIVED, ELSEWHERE, loadDestination, requireOpen } from './target.ts'
import { createTombstone } from '../cascades.ts'
import { cardCounts, withCounts } from '../counts.ts'
import { loadBoard, loadCard } from '../targets.ts'
import { deleted, operation } from '../operation.ts'
import { positionAt } from '../../listing/ranks.ts'
import { atLeastOne } from '../patch.ts'
import { requireCapacity } from '../../listing/capacity.ts'

const FULL = `A board has at most ${limits.cardsPerBoard} cards, archived ones included.`

/** Cards (spec §5: rows P2, P9, P10). */
export const cardOperations = [
  operation({
    id: 'cards.read',
    method: 'GET',
    path: '/cards/{card_id}',
    summary: 'Reads a card; ?include=counts tells how many subtasks, comments and attachments it has.',
    needs: ['read', 'Card'],
    row: 'P2',
    query: z.strictObject(withCounts.query),
    data: card.extend(cardCounts.shape),
    entity: cardEntity,
    load: loadTheCard,
    run: ({ tx, query }, loaded) => withCounts.answer(tx, query, loaded.card, cardCounts.of(loaded.card)),
  }),

  operation({
    id: 'cards.create',
    method: 'POST',
    path: '/boards/{board_id}/cards',
    summary: 'Creates a card in a column: before or after another one, else last.',
    needs: ['create', 'Card'],
    row: 'P9',
    body: cardCreate,
    data: card,
    status: 201,
    entity: (params) => keys.board(params['board_id']!),
    conflicts: [FULL, ARCHIVED, ELSEWHERE],
    async load({ tx, caller, params, body, see }) {
      const loaded = see(await loadBoard(tx, caller, params['board_id']!))
      return { ...loaded, ...(await loadDestination(tx, loaded.board, body, body.column_id)) }
    },
    async run({ tx, caller, body, clock, random }, { board, column, anchor }) {
      requireOpen(column, anchor)
      await requireCapacity(tx, indexes.boardCards(board.id), limits.cardsPerBoard, FULL)
      const now = timestamp(clock)
      const { title, description, due_at } = body
      const position = await positionAt({ tx, clock }, columnList(column.id), placeOf(anchor, 'last'))
      const created: Card = {
        id: newId('card', random),
        board_id: board.id,
        column_id: column.id,
        title,
        description,
        position,
        due_at,
        completed_at: null,
        archived_at: null,
        assignee_ids: [],
        label_ids: [],
        cover_attachment_id: null,
        creator_id: caller.userId,
        created_at: now,
        updated_at: now,
      }
      const key = keys.card(created.id)
      await tx.create(key, created)
      return { data: created, location: `/cards/${created.id}`, entity: key }
    },
  }),

  operation({
    id: 'cards.update',
    method: 'PATCH',
    path: '/cards/{card_id}',
    summary: 'Changes the title, description or due time of a card.',
    needs: ['update', 'Card'],
    row: 'P9',
    body: atLeastOne(cardUpdate),
    data: card,
    entity: cardEntity,
    load: loadTheCard,
    run: async (request, loaded) => saveCard(request, { ...loaded.card, ...request.body } as Card),
  }),

  operation({
    id: 'cards.move',
    method: 'POST',
    path: '/cards/{card_id}/move',
    summary: 'Moves a card within its column or to another one of its board; next to a card, it goes to the column of that.',
    needs: ['move', 'Card'],
    row: 'P9',
    body: cardMove,
    data: card,
    entity: cardEntity,
    contradiction: notNextToItself('card_id'),
    conflicts: [ARCHIVED, ELSEWHERE],
    async load({ tx, caller, params, body, see }) {
      const loaded = see(await loadCard(tx, caller, params['card_id']!))
      return { ...loaded, ...(await loadDestination(tx, loaded.board, body, body.column_id, loaded.card.column_id)) }
    },
    async run(request, { card: moved, column, anchor }) {
      const place = placeOf(anchor, request.body.to)
      requireOpen(column, anchor)
      const position = await positionAt(request, columnList(column.id), place, moved.id)
      return saveCard(request, { ...moved, column_id: column.id, position })
    },
  }),

  operation({
    id: 'cards.complete',
    method: 'PUT',
    path: '/cards/{card_id}/completion',
    summary: 'Says that a card is completed, or that it is not.',
    needs: ['complete', 'Card'],
    row: 'P9',
    body: cardCompletion,
    data: card,
    entity: cardEntity,
    load: loadTheCard,
    async run(request, loaded) {
      if ((loaded.card.completed_at !== null) === request.body.completed) return { data: loaded.card }
      return saveCard(request, { ...loaded.card, completed_at: request.body.completed ? timestamp(request.clock) : null })
    },
  }),

  operation({
    id: 'cards.archive',
    method: 'POST',
    path: '/cards/{card_id}/archive',
    summary: 'Puts a card away.',
    needs: ['archive', 'Card'],
    row: 'P9',
    data: card,
    entity: cardEntity,
    load: loadTheCard,
    async run(request, loaded) {
      return loaded.card.archived_at === null
        ? saveCard(request, { ...loaded.card, archived_at: timestamp(request.clock) })
        : { data: loaded.card }
    },
  }),

  operation({
    id: 'cards.restore',
    method: 'POST',
    path: '/cards/{card_id}/restore',
    summary: 'Brings an archived card back to its place.',
    needs: ['restore', 'Card'],
    row: 'P9',
    data: card,
    entity: cardEntity,
    load: loadTheCard,
    async run(request, loaded) {
      return loaded.card.archived_at === null ? { data: loaded.card } : saveCard(request, { ...loaded.card, archived_at: null })
    },
  }),

  operation({
    id: 'cards.delete',
    method: 'DELETE',
    path: '/cards/{card_id}',
    summary: 'Deletes a card for good, with all that hangs on it.',
    needs: ['delete', 'Card'],
    row: 'P10',
    data: deleted,
    entity: cardEntity,
    load: loadTheCard,
    async run(request, loaded) {
      request.tx.remove(keys.card(loaded.card.id))
      await createTombstone(request, 'card', loaded.card.id)
      return { data: { id: loaded.card.id, deleted: true } }
    },
  }),
]
