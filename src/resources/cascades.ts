import type { Board } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import { newId } from '../model/ids.ts'
import { DAY, timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { indexes, lastWord } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OperationRequest } from './operation.ts'

/**
 * What follows from a change elsewhere, in the same commit: so nobody ever finds an assignee who cannot see
 * the card, or a label that is none.
 */

const ALL = 1_000_000

/** How long a file that hangs nowhere any more can be attached again, in milliseconds. */
const UNUSED_FOR = DAY

/** Has a file reclaimed that hangs nowhere any more, unless it is attached again before that. */
export async function buryUnusedFile(
  request: Pick<OperationRequest, 'tx' | 'clock' | 'random'>,
  fileId: string,
  goneAttachmentId: string,
  delay = UNUSED_FOR,
): Promise<void> {
  const { entries } = await request.tx.range(indexes.fileAttachments(fileId), { limit: 2 })
  if (!entries.every((entry) => lastWord(entry) === goneAttachmentId)) return
  const id = tombstoneIdOf(fileId)
  const note: Tombstone = { id, kind: 'file', target: fileId, not_before: timestamp(() => request.clock() + delay) }
  await request.tx.get(keys.tombstone(id))
  request.tx.put(keys.tombstone(id), note)
}

/** Keeps a file that is attached again. */
export async function exhumeFile(tx: Transaction, fileId: string): Promise<void> {
  const key = keys.tombstone(tombstoneIdOf(fileId))
  if ((await tx.get(key)) !== undefined) tx.remove(key)
}

/** A file has one note at most, so that the last time that it was taken off counts. */
function tombstoneIdOf(fileId: string): string {
  return `tmb_${fileId.slice(fileId.indexOf('_') + 1)}`
}

/**
 * Takes everyone off the cards of a board who does not belong to its scope any more.
 * @param board as it will be; the entries of its members are looked at as the unit of work leaves them
 */
export async function unassignWithoutAccess(
  { tx, clock, holds }: Pick<OperationRequest, 'tx' | 'clock' | 'holds'>,
  board: Board,
): Promise<void> {
  const { entries, values } = await tx.range(indexes.boardAssignments(board.id), { limit: ALL })
  const people = [...new Set(entries.map((entry) => entry.split(' ')[0]!))]
  const memberships = await tx.read(people.map(keys.membership))
  const boardMembers = await tx.read(people.map((userId) => keys.boardMember(board.id, userId)))
  const stay = new Set(
    people.filter((_id, i) => holds('user.belongs', { board, user: { membership: memberships[i]!, boardMember: boardMembers[i] } })),
  )
  for (const card of new Map(values.map((value) => [value?.id, value])).values()) {
    if (card?.assignee_ids.some((userId) => !stay.has(userId))) withoutAssignees(tx, card, clock, (userId) => !stay.has(userId))
  }
}

/** Takes one person off all cards of the workspace. */
export async function unassignFromAllCards(tx: Transaction, userId: string, clock: OperationRequest['clock']): Promise<void> {
  const { values } = await tx.range(indexes.assignmentsOf(userId), { limit: ALL })
  for (const card of values) if (card !== undefined) withoutAssignees(tx, card, clock, (id) => id === userId)
}

/** Takes a label off all cards that bear it. */
export async function removeLabelFromCards(tx: Transaction, labelId: string, clock: OperationRequest['clock']): Promise<void> {
  const { values } = await tx.range(indexes.labelCards(labelId), { limit: ALL })
  for (const card of values) {
    if (card !== undefined)
      tx.put(keys.card(card.id), { ...card, label_ids: card.label_ids.filter((id) => id !== labelId), updated_at: timestamp(clock) })
  }
}

/** Has the remains of something reclaimed. */
export async function createTombstone(
  { tx, clock, random }: Pick<OperationRequest, 'tx' | 'clock' | 'random'>,
  kind: 'board' | 'card',
  target: string,
): Promise<void> {
  const tombstone: Tombstone = { id: newId('tombstone', random), kind, target, not_before: timestamp(clock) }
  await tx.create(keys.tombstone(tombstone.id), tombstone)
}

function withoutAssignees(tx: Transaction, card: Card, clock: OperationRequest['clock'], leaves: (userId: string) => boolean): void {
  tx.put(keys.card(card.id), { ...card, assignee_ids: card.assignee_ids.filter((id) => !leaves(id)), updated_at: timestamp(clock) })
}
