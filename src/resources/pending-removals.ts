import type { Card } from '../model/card.ts'
import type { AttachmentRecord, FileRecord, FileVisibility } from '../model/file.ts'
import type { PendingRemoval, PendingRemovals } from '../model/pending-removal.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'

// What counts while a removal is pending (see removals.ts): records still have the references that are being removed, and what is shown of
// them, or decided with them, does not.

/** A card as it counts: without the assignees and labels whose removal is pending. */
export function shownCard(card: Card, removals: PendingRemovals | undefined): Card {
  if (countPending(card, removals) === 0) return card
  return {
    ...card,
    assignee_ids: card.assignee_ids.filter((userId) => !isAssignmentPending(removals!, card, userId)),
    label_ids: card.label_ids.filter((labelId) => !isLabelPending(removals!, labelId)),
  }
}

/** A file as it counts: a private file of a user whose membership has ended is accessible on its board, before it is written so. */
export function shownFile(file: FileRecord, removals: PendingRemovals | undefined): FileRecord {
  return isSharingPending(file, removals) ? { ...file, ...SHARED } : file
}

/** What becomes of a private file when its owner's membership ends. */
export const SHARED = { visibility: 'board' } as const

function isSharingPending({ owner_id, visibility }: FileRecord, removals: PendingRemovals | undefined): boolean {
  return visibility === 'private' && pendingRemovalOfMember(removals, owner_id) !== undefined
}

/** The number of assignees and labels of a card whose removal is pending. It only grows until the record is written. */
function countPending(card: Card, removals: PendingRemovals | undefined): number {
  if (removals === undefined) return 0
  const users = card.assignee_ids.filter((userId) => isAssignmentPending(removals, card, userId))
  return users.length + card.label_ids.filter((labelId) => isLabelPending(removals, labelId)).length
}

/**
 * The revision of what a response shows of a record: its ETag. It covers what other records change of it: references of a card
 * whose removal is pending, and the visibility of a file, which its attachments show.
 * @returns undefined if the record was not read or is absent
 */
export function shownRevision(tx: Transaction, key: Key<unknown>): string | undefined {
  const revision = tx.revisionOf(key)
  const suffix = revision === undefined ? undefined : shownOfOthers(tx, key)
  return suffix === undefined ? revision : `${revision}.${suffix}`
}

/** The part of an ETag that covers the visibility of a file. */
function markOf({ visibility }: Pick<FileRecord, 'visibility'>): string {
  return MARKS[visibility]
}
const MARKS: Readonly<Record<FileVisibility, string>> = { workspace: 'w', board: 'b', private: 'p' }

/** A text for the changes that other records make to a record; undefined: no changes. */
function shownOfOthers(tx: Transaction, key: Key<unknown>): string | number | undefined {
  const kind = key.slice(0, key.indexOf(':'))
  const removals = tx.known(keys.removals())
  if (kind === 'card') return countPending(tx.known(key) as Card, removals) || undefined
  if (kind === 'file') return isSharingPending(tx.known(key) as FileRecord, removals) ? markOf(SHARED) : undefined
  if (kind === 'attachment') return markOf(shownFile(tx.known(keys.file((tx.known(key) as AttachmentRecord).file_id))!, removals))
  return undefined
}

/** Keeps an assignment that is made while the removal of earlier ones of the same user is pending. */
export async function keepAssignment(tx: Transaction, card: Card, userId: string): Promise<void> {
  const removals = await tx.get(keys.removals())
  if (removals === undefined || !isAssignmentPending(removals, card, userId)) return
  const keep = (removal: PendingRemoval): PendingRemoval =>
    removal.kind === 'assignments' && removesAssignment(removal, card, userId)
      ? { ...removal, kept: [...removal.kept, assignmentEntry(card, userId)] }
      : removal
  tx.put(keys.removals(), { pending: removals.pending.map(keep) })
}

/** The pending removal of a former member's records in the workspace. */
export function pendingRemovalOfMember(removals: PendingRemovals | undefined, userId: string): PendingRemoval | undefined {
  return removals?.pending.find((removal) => removal.kind === 'former_member' && removal.user_id === userId)
}

function isAssignmentPending({ pending }: PendingRemovals, card: Card, userId: string): boolean {
  return pending.some((removal) => removesAssignment(removal, card, userId))
}

function isLabelPending({ pending }: PendingRemovals, labelId: string): boolean {
  return pending.some((removal) => removal.kind === 'label' && removal.label_id === labelId)
}

function removesAssignment(removal: PendingRemoval, card: Card, userId: string): boolean {
  if (removal.kind === 'former_member') return removal.user_id === userId
  if (removal.kind !== 'assignments' || removal.board_id !== card.board_id) return false
  return removal.user_ids.includes(userId) && !removal.kept.includes(assignmentEntry(card, userId))
}

/** The entry of an assignment in `indexes.boardAssignments`. */
function assignmentEntry({ id }: Card, userId: string): string {
  return `${userId} ${id}`
}
