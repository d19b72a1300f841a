import { z } from 'zod'
import { rankedPage } from '../../listing/pages.ts'
import { AT_END, notNextToItself, resolvePlacement, type Placement, onePlacement, place } from '../../listing/placement.ts'
import { positionAt, type RankedList } from '../../listing/ranks.ts'
import type { Card } from '../../model/card.ts'
import { subtask, type Subtask } from '../../model/subtask.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { itemList } from '../included.ts'
import { deleted, operation } from '../operation.ts'
import { parentCard, subtaskTarget } from '../targets.ts'
import { createResource, removeResource, saveResource } from '../writes.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { line } from '../../model/text.ts'

const title = line(limits.subtaskTitle, 'The title of the subtask.')
const completed = documented(z.boolean(), { description: 'Whether the subtask is completed.' })

const created = { title, completed: completed.default(false) }
/** A subtask that is created with its card: its title, or an object. */
export const subtaskOfNewCard = z.union([title.transform((text) => ({ title: text, completed: false })), z.strictObject(created)], {
  error: `must be a title of 1 to ${limits.subtaskTitle} characters, or an object with title and completed`,
})
const subtaskCreate = onePlacement(z.strictObject({ ...created, ...place }))
const subtaskUpdate = onePlacement(z.strictObject({ title: title.optional(), completed: completed.optional(), ...place })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of title, completed, before, after, to',
)

const subtasksOf = (cardId: string): RankedList<Subtask> => ({ id: cardId, indexes: [indexes.subtasks(cardId)], keyOf: keys.subtask })

async function placementOnCard({ tx, body }: { tx: Transaction; body: Placement }, { card }: { card: Pick<Card, 'id'> }) {
  return { placement: await resolvePlacement(tx, body, 'subtask', keys.subtask, ({ card_id }) => card_id === card.id) }
}

/** Subtasks of a card (spec §5: rows P2, P12). */
export const subtaskOperations = [
  operation({
    id: 'subtasks.list',
    method: 'GET',
    path: '/cards/{card_id}/subtasks',
    summary: 'Lists the subtasks of a card in their order.',
    needs: ['read', 'Subtask'],
    row: 'P2',
    ...itemList('subtasks.list', subtask),
    target: parentCard,
    run: ({ tx, query }, { card }) => rankedPage(tx, 'subtasks.list', subtasksOf(card.id), query),
  }),

  operation({
    id: 'subtasks.read',
    method: 'GET',
    path: '/subtasks/{subtask_id}',
    summary: 'Returns a subtask.',
    needs: ['read', 'Subtask'],
    row: 'P2',
    data: subtask,
    target: subtaskTarget,
    run: (_request, loaded) => ({ data: loaded.subtask }),
  }),

  operation({
    id: 'subtasks.create',
    method: 'POST',
    path: '/cards/{card_id}/subtasks',
    summary: 'Adds a subtask to a card, before or after another one, or at the end.',
    needs: ['create', 'Subtask'],
    row: 'P12',
    body: subtaskCreate,
    data: subtask,
    status: 201,
    capacity: ['subtasksPerCard', indexes.subtasks],
    example: { body: { title: 'Write the release notes' } },
    target: parentCard,
    related: (request, loaded) => placementOnCard(request, loaded),
    async run(request, { card, placement = AT_END }) {
      const position = await positionAt(request.tx, subtasksOf(card.id), placement)
      const { title, completed } = request.body
      const completed_at = completed ? timestamp(request.clock) : null
      return createResource(request, 'subtask', keys.subtask, { card_id: card.id, title, completed_at, position })
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
    bodyRule: notNextToItself('subtask_id'),
    example: { body: { completed: true } },
    target: subtaskTarget,
    related: (request, loaded) => placementOnCard(request, loaded),
    async run(request, { card, subtask: current, placement }) {
      const { title = current.title, completed = current.completed_at !== null } = request.body
      const position = placement === undefined ? current.position : await positionAt(request.tx, subtasksOf(card.id), placement, current)
      const completed_at = completed ? (current.completed_at ?? timestamp(request.clock)) : null
      return saveResource(request, keys.subtask, current, { title, completed_at, position })
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
    target: subtaskTarget,
    run: ({ tx }, loaded) => removeResource(tx, keys.subtask, loaded.subtask),
  }),
]
