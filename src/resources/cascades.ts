import type { BoardAccess } from '../authz/context.ts'
import type { BoardMember } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import { durations } from '../model/durations.ts'
import { newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import type { Membership } from '../model/workspace.ts'
import { indexes, lastWord } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OperationRequest } from './operation.ts'
import { saveResource } from './writes.ts'

/**
 * Changes that follow from another change, in the same commit. So no response ever shows an assignee who has no access
 * to the card, or a label that does not exist.
 */

type Work = Pick<OperationRequest, 'tx' | 'clock'>
type CreatingWork = Pick<OperationRequest, 'tx' | 'clock' | 'random'>

/** Schedules the removal of a file if its last attachment is removed. Attaching it again cancels that. */
export async function removeFileIfUnattached({ tx, clock }: Work, fileId: string, removedAttachmentId: string): Promise<void> {
  const ranges = [{ index: indexes.fileAttachments(fileId), options: { limit: 2, entriesOnly: true } }] as const
  const { entries } = (await tx.load({ records: [fileRemoval(fileId)], ranges })).ranges[0]
  if (!entries.every((entry) => lastWord(entry) === removedAttachmentId)) return
  const tombstone: Tombstone = {
    id: fileTombstoneId(fileId),
    kind: 'file',
    target: fileId,
    not_before: timestamp(() => clock() + durations.unattachedFile),
  }
  tx.put(fileRemoval(fileId), tombstone)
}

/** Cancels the removal of a file that is attached again. */
export async function cancelFileRemoval(tx: Transaction, fileId: string): Promise<void> {
  const key = fileRemoval(fileId)
  if ((await tx.get(key)) !== undefined) tx.remove(key)
}

/** The key of the tombstone of a file. */
export function fileRemoval(fileId: string): Key<Tombstone> {
  return keys.tombstone(fileTombstoneId(fileId))
}

/** One tombstone per file: the latest removal of an attachment counts. */
function fileTombstoneId(fileId: string): string {
  return `tmb_${fileId.slice(fileId.indexOf('_') + 1)}`
}

/**
 * Unassigns every user who no longer belongs to the board's scope.
 * @param board its state after the change. Its members are read as this unit of work leaves them.
 */
export async function unassignWithoutAccess(
  { tx, clock, holds }: Pick<OperationRequest, 'tx' | 'clock' | 'holds'>,
  board: BoardAccess,
): Promise<void> {
  const { entries, values } = await tx.all(indexes.boardAssignments(board.id))
  const userIds = [...new Set(entries.map((entry) => entry.split(' ')[0]!))]
  const records = await tx.read(userIds.flatMap((userId) => [keys.membership(userId), keys.boardMember(board.id, userId)]))
  const userAt = (i: number) => ({ membership: records[2 * i] as Membership, boardMember: records[2 * i + 1] as BoardMember | undefined })
  const remaining = new Set(userIds.filter((_id, i) => holds('user.belongs', { board, user: userAt(i) })))
  // A card has one entry for each assignee.
  for (const card of new Map(values.map((value) => [value?.id, value])).values())
    if (card?.assignee_ids.some((userId) => !remaining.has(userId))) unassign({ tx, clock }, card, (userId) => !remaining.has(userId))
}

/** Unassigns a user from all cards of the workspace. */
export async function unassignFromAllCards(work: Work, userId: string): Promise<void> {
  const { values } = await work.tx.all(indexes.assignmentsOf(userId))
  for (const card of values) if (card !== undefined) unassign(work, card, (id) => id === userId)
}

/** Removes a label from all cards that have it. */
export async function removeLabelFromCards(work: Work, labelId: string): Promise<void> {
  const { values } = await work.tx.all(indexes.labelCards(labelId))
  for (const card of values)
    if (card !== undefined) saveResource(work, keys.card, { ...card, label_ids: card.label_ids.filter((id) => id !== labelId) })
}

/** Marks what belongs to a deleted board or card for garbage collection. */
export async function createTombstone({ tx, clock, random }: CreatingWork, kind: 'board' | 'card', target: string): Promise<void> {
  const tombstone: Tombstone = { id: newId('tombstone', random), kind, target, not_before: timestamp(clock) }
  tx.create(keys.tombstone(tombstone.id), tombstone)
}

function unassign(work: Work, card: Card, removed: (userId: string) => boolean): void {
  saveResource(work, keys.card, { ...card, assignee_ids: card.assignee_ids.filter((id) => !removed(id)) })
}
