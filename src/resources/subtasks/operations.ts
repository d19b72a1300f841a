import { subtaskCreate, subtaskUpdate } from './schema.ts'
import { z } from 'zod'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { subtask, type Subtask } from '../../model/subtask.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { loadAnchor, notNextToItself, placeOf } from '../../listing/anchors.ts'
import { cardEntity, loadTheCard } from '../cards/writing.ts'
import { loadSubtask } from '../targets.ts'
import { deleted, operation, type Addressed } from '../operation.ts'
import { orderedPage } from '../../listing/ranked-pages.ts'
import { positionAt, type OrderedList } from '../../listing/ranks.ts'
import { pageQuery } from '../../listing/pages.ts'
import { requireCapacity } from '../../listing/capacity.ts'

const entity = (params: Readonly<Record<string, string>>) => keys.subtask(params['subtask_id']!)
const load = ({ tx, caller, params }: Addressed) => loadSubtask(tx, caller, params['subtask_id']!)
const cardList = (cardId: string): OrderedList<Subtask> => ({ id: cardId, indexes: [indexes.subtasks(cardId)], keyOf: keys.subtask })
const FULL = `A card has at most ${limits.subtasksPerCard} subtasks.`

/** Subtasks of a card (spec §5: rows P2, P12). */
export const subtaskOperations = [
  operation({
    id: 'subtasks.list',
    method: 'GET',
    path: '/cards/{card_id}/subtasks',
    summary: 'Lists the subtasks of a card in their order.',
    needs: ['read', 'Subtask'],
    row: 'P2',
    query: z.strictObject(pageQuery('subtasks.list')),
    data: z.array(subtask),
    load: loadTheCard,
    run: ({ tx, query }, { card }) => orderedPage(tx, 'subtasks.list', cardList(card.id), query),
  }),

  operation({
    id: 'subtasks.read',
    method: 'GET',
    path: '/subtasks/{subtask_id}',
    summary: 'Reads a subtask.',
    needs: ['read', 'Subtask'],
    row: 'P2',
    data: subtask,
    entity,
    load,
    run: async (_request, loaded) => ({ data: loaded.subtask }),
  }),

  operation({
    id: 'subtasks.create',
    method: 'POST',
    path: '/cards/{card_id}/subtasks',
    summary: 'Adds a subtask to a card: before or after another one, else last.',
    needs: ['create', 'Subtask'],
    row: 'P12',
    body: subtaskCreate,
    data: subtask,
    status: 201,
    entity: cardEntity,
    conflicts: [FULL],
    async load(request) {
      const loaded = request.see(await loadTheCard(request))
      return {
        ...loaded,
        anchor: await loadAnchor(request.tx, request.body, 'subtask', keys.subtask, ({ card_id }) => card_id === loaded.card.id),
      }
    },
    async run({ tx, body, clock, random }, { card, anchor }) {
      await requireCapacity(tx, indexes.subtasks(card.id), limits.subtasksPerCard, FULL)
      const now = timestamp(clock)
      const position = await positionAt({ tx, clock }, cardList(card.id), placeOf(anchor, 'last'))
      const created: Subtask = {
        id: newId('subtask', random),
        card_id: card.id,
        title: body.title,
        completed_at: body.completed ? now : null,
        position,
        created_at: now,
        updated_at: now,
      }
      const key = keys.subtask(created.id)
      await tx.create(key, created)
      return { data: created, location: `/subtasks/${created.id}`, entity: key }
    },
  }),

  operation({
    id: 'subtasks.update',
    method: 'PATCH',
    path: '/subtasks/{subtask_id}',
    summary: 'Changes the title of a subtask, whether it is completed, or its place.',
    needs: ['update', 'Subtask'],
    row: 'P12',
    body: subtaskUpdate,
    data: subtask,
    entity,
    contradiction: notNextToItself('subtask_id'),
    async load(request) {
      const loaded = request.see(await load(request))
      return {
        ...loaded,
        anchor: await loadAnchor(request.tx, request.body, 'subtask', keys.subtask, ({ card_id }) => card_id === loaded.card.id),
      }
    },
    async run({ tx, body, clock }, { card, subtask: present, anchor }) {
      const now = timestamp(clock)
      const position =
        anchor === undefined ? present.position : await positionAt({ tx, clock }, cardList(card.id), placeOf(anchor, undefined), present.id)
      const completed_at = body.completed === undefined ? present.completed_at : body.completed ? (present.completed_at ?? now) : null
      const changed: Subtask = { ...present, title: body.title ?? present.title, completed_at, position, updated_at: now }
      tx.put(keys.subtask(changed.id), changed)
      return { data: changed }
    },
  }),

  operation({
    id: 'subtasks.delete',
    method: 'DELETE',
    path: '/subtasks/{subtask_id}',
    summary: 'Deletes a subtask.',
    needs: ['delete', 'Subtask'],
    row: 'P12',
    data: deleted,
    entity,
    load,
    async run({ tx }, loaded) {
      tx.remove(keys.subtask(loaded.subtask.id))
      return { data: { id: loaded.subtask.id, deleted: true } }
    },
  }),
]
