import type { BoardAccess } from '../authz/context.ts'
import type { BoardMember } from '../model/board.ts'
import { durations } from '../model/durations.ts'
import { newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import type { Membership } from '../model/workspace.ts'
import { indexes, lastWord } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OperationRequest } from './operation.ts'
import { beginRemoval, type RemovalWork } from './removals.ts'

/**
 * Changes that follow from another change, in the same commit. So no response ever shows an assignee who has no access
 * to the card, or a label that does not exist.
 */

type Work = Pick<OperationRequest, 'tx' | 'clock'>
type CreatingWork = Pick<OperationRequest, 'tx' | 'clock' | 'random'>

/** Marks a file for garbage collection if its last attachment is removed. Attaching it again removes the tombstone. */
export async function markFileIfUnattached({ tx, clock }: Work, fileId: string, removedAttachmentId: string): Promise<void> {
  const ranges = [{ index: indexes.fileAttachments(fileId), options: { limit: 2, entriesOnly: true } }] as const
  const { entries } = (await tx.load({ records: [fileTombstone(fileId)], ranges })).ranges[0]
  if (!entries.every((entry) => lastWord(entry) === removedAttachmentId)) return
  const tombstone: Tombstone = {
    id: fileTombstoneId(fileId),
    kind: 'file',
    target: fileId,
    not_before: timestamp(() => clock() + durations.unattachedFile),
  }
  tx.put(fileTombstone(fileId), tombstone)
}

/** Removes the tombstone of a file that is attached again. */
export async function unmarkFile(tx: Transaction, fileId: string): Promise<void> {
  const key = fileTombstone(fileId)
  if ((await tx.get(key)) !== undefined) tx.remove(key)
}

/** The key of the tombstone of a file. */
export function fileTombstone(fileId: string): Key<Tombstone> {
  return keys.tombstone(fileTombstoneId(fileId))
}

/** One tombstone per file: the latest removal of an attachment counts. */
function fileTombstoneId(fileId: string): string {
  return `tmb_${fileId.slice(fileId.indexOf('_') + 1)}`
}

/**
 * Unassigns users who no longer belong to the board's scope.
 * @param board its state after the change. Its members are read as this unit of work leaves them.
 * @param affected the users whose access may have ended; by default all who are assigned to its cards
 */
export async function unassignWithoutAccess(
  work: RemovalWork & Pick<OperationRequest, 'holds' | 'examine'>,
  board: BoardAccess,
  affected?: readonly string[],
): Promise<void> {
  const { tx, holds } = work
  const userIds = affected ?? (await assigneesOf(work, board.id))
  const records = await tx.read(userIds.flatMap((userId) => [keys.membership(userId), keys.boardMember(board.id, userId)]))
  const userAt = (i: number) => ({ membership: records[2 * i] as Membership, boardMember: records[2 * i + 1] as BoardMember | undefined })
  const user_ids = userIds.filter((_id, i) => !holds('user.belongs', { board, user: userAt(i) }))
  await beginRemoval(work, { kind: 'assignments', board_id: board.id, user_ids, kept: [] })
}

async function assigneesOf({ tx, examine }: Pick<OperationRequest, 'tx' | 'examine'>, boardId: string): Promise<string[]> {
  const { entries } = await tx.all(indexes.boardAssignments(boardId), { entriesOnly: true })
  // Archived cards are among them, so there can be any number.
  await examine(entries.length * ENTRY)
  return [...new Set(entries.map((entry) => entry.split(' ')[0]!))]
}

/** The length of an entry, in characters. */
const ENTRY = 50

/** Marks what belongs to a deleted board or card for garbage collection. */
export async function createTombstone({ tx, clock, random }: CreatingWork, kind: 'board' | 'card', target: string): Promise<void> {
  const tombstone: Tombstone = { id: newId('tombstone', random), kind, target, not_before: timestamp(clock) }
  tx.create(keys.tombstone(tombstone.id), tombstone)
}
