import type { z } from 'zod'
import type { AuthorizationContext, BoardAccess } from '../../authz/context.ts'
import { positionsOfNewList } from '../../listing/ranks.ts'
import { andThen, type Awaitable } from '../../model/awaitable.ts'
import type { Card } from '../../model/card.ts'
import { isId } from '../../model/ids.ts'
import type { Subtask } from '../../model/subtask.ts'
import { timestamp } from '../../model/time.ts'
import { keys } from '../../store/keys.ts'
import type { Read } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { OperationRequest } from '../operation.ts'
import { keepAssignment } from '../pending-removals.ts'
import { identityOf } from '../targets.ts'
import { createResource } from '../writes.ts'
import { requireBlocker } from './blockers.ts'
import type { cardCreate } from './schema.ts'

/** The labels, assignees, blockers and subtasks of a card that is created. */
type Named = Pick<z.infer<typeof cardCreate>, 'label_ids' | 'assignee_ids' | 'blocker_ids' | 'subtasks'>

/** For each item of the body, in its order, the context of the decision about it; undefined if it is absent. */
export interface Additions {
  readonly labels: readonly (Pick<AuthorizationContext, 'label'> | undefined)[]
  readonly assignees: readonly (Pick<AuthorizationContext, 'user'> | undefined)[]
  readonly blockers: readonly ({} | undefined)[]
  readonly subtasks: readonly {}[]
}

/** What {@link loadAdditions} reads: to read it together with something else. */
export function additionReads({ label_ids, assignee_ids, blocker_ids }: Named, { id }: BoardAccess): Read[] {
  return [
    ...label_ids.filter((labelId) => isId('label', labelId)).map((labelId) => identityOf(keys.label(labelId))),
    ...assignee_ids.flatMap((userId) => (isId('user', userId) ? [keys.membership(userId), keys.boardMember(id, userId)] : [])),
    ...blocker_ids.filter((cardId) => isId('card', cardId)).map(keys.card),
    // Assignments of earlier times that are being removed must not take this one with them.
    ...(assignee_ids.length > 0 ? [keys.removals()] : []),
  ]
}

/** Loads what the body names. */
export function loadAdditions(tx: Transaction, named: Named, board: BoardAccess): Awaitable<Additions> {
  return andThen(tx.read(additionReads(named, board)), () => additionsOf(tx, named, board))
}

function additionsOf(tx: Transaction, named: Named, board: BoardAccess): Additions {
  const labels = named.label_ids.map((labelId) => {
    const label = tx.known(keys.label(labelId))
    return label && { label }
  })
  const assignees = named.assignee_ids.map((userId) => {
    const membership = tx.known(keys.membership(userId))
    return membership && { user: { membership, boardMember: tx.known(keys.boardMember(board.id, userId)) } }
  })
  const blockers = named.blocker_ids.map((cardId) => (tx.known(keys.card(cardId))?.board_id === board.id ? {} : undefined))
  // The facts of all subtasks are the same.
  return { labels, assignees, blockers, subtasks: named.subtasks.slice(0, 1).map(() => ({})) }
}

/**
 * Completes the creation of a card: keeps its assignments, and creates its subtasks. Nothing waits for a new card, so its blockers close no
 * cycle.
 * @throws {ApiError} `conflict`
 */
export async function addToNew(request: Pick<OperationRequest, 'tx' | 'clock' | 'random'>, card: Card, named: Named): Promise<void> {
  for (const userId of named.assignee_ids) await keepAssignment(request.tx, card, userId)
  for (const blockerId of named.blocker_ids) await requireBlocker(request.tx, blockerId)
  const positions = positionsOfNewList(named.subtasks.length)
  for (const [i, { title, completed }] of named.subtasks.entries()) {
    const completed_at = completed ? timestamp(request.clock) : null
    createResource<Subtask>(request, 'subtask', keys.subtask, { card_id: card.id, title, completed_at, position: positions[i]! })
  }
}
