import { andThen } from '../../model/awaitable.ts'
import { AT_END, notNextToItself } from '../../listing/placement.ts'
import { positionAt } from '../../listing/ranks.ts'
import { card, type Card } from '../../model/card.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { capacityMessage } from '../capacity.ts'
import { countAttempt, moveWork } from '../claims/changes.ts'
import { operation } from '../operation.ts'
import { cardAndWork, parentBoard } from '../targets.ts'
import { createResource, saveResource } from '../writes.ts'
import { additionReads, addToNew, loadAdditions } from './additions.ts'
import { requireCardCapacity, requireWipCapacity, WIP_LIMIT } from './capacity.ts'
import { changeCompletion, completedNow, NOT_COMPLETED, outcomeOfMove } from './completion.ts'
import { cardsOf, destinationConflicts, loadDestination, requireOpen } from './destination.ts'
import { REF_TAKEN, requireFreeRef } from './external-refs.ts'
import { cardCreate, cardMove } from './schema.ts'

// The operations that place a card in a column.

/**
 * What completes a card, or opens it again, asks the permission for that, too: a policy that lets somebody move a card need not let them
 * complete it.
 */
const COMPLETION = { member: 'column_id', parameter: 'column_id', permission: 'complete Card', row: 'P9' } as const

/** Creates a card (spec §5: row P9). */
export const createCard = operation({
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
  conflicts: [capacityMessage('cardsPerBoard'), capacityMessage('blockedCards'), WIP_LIMIT, REF_TAKEN, ...destinationConflicts],
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
    // A card of a column that completes is completed with its creation.
    { ...COMPLETION, contexts: ({ column }) => (column.completes ? [{}] : []) },
  ],
  async run(request, { board, column, placement = AT_END }) {
    requireOpen({ column, placement })
    await requireCardCapacity(request.tx, board.id, { cards: 1 })
    await requireWipCapacity(request.tx, column)
    const { title, description, external_ref, due_at, label_ids, assignee_ids, blocker_ids } = request.body
    await requireFreeRef(request.tx, board.id, external_ref)
    const created = createResource<Card>(request, 'card', keys.card, {
      board_id: board.id,
      column_id: column.id,
      title,
      description,
      external_ref,
      position: await positionAt(request.tx, cardsOf(column.id), placement),
      due_at,
      ...(column.completes ? completedNow(request, 'succeeded') : NOT_COMPLETED),
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
})

/** Moves a card (spec §5: row P9). */
export const moveCard = operation({
  id: 'cards.move',
  method: 'POST',
  path: '/cards/{card_id}/move',
  summary:
    'Moves a card within its column, or to another column of its board: by default to its end. A column that completes its cards completes it.',
  needs: ['move', 'Card'],
  row: 'P9',
  body: cardMove,
  data: card,
  bodyRule: notNextToItself('card_id'),
  conflicts: [capacityMessage('cardsPerBoard'), WIP_LIMIT, ...destinationConflicts],
  example: { body: { column_id: '{column_id}', to: 'first' } },
  target: cardAndWork,
  related({ tx, body }, { board, card: moved }) {
    const present = keys.column(moved.column_id)
    return andThen(loadDestination(tx, board, body, moved.column_id, [present]), (destination) => ({
      ...destination,
      outcome: outcomeOfMove(moved, tx.known(present)!, destination.column),
    }))
  },
  also: [{ ...COMPLETION, contexts: ({ outcome }) => (outcome === undefined ? [] : [{}]) }],
  async run(request, { card: moved, outcome, ...destination }) {
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
    const completion = outcome === undefined ? undefined : await changeCompletion(request, moved, outcome)
    return saveResource(request, keys.card, moved, { column_id: column.id, position, ...completion })
  },
})
