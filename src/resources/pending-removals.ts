import type { Card } from '../model/card.ts'
import type { AttachmentRecord, FileRecord, FileVisibility } from '../model/file.ts'
import { newId } from '../model/ids.ts'
import type { PendingRemoval, PendingRemovals, RemovalOf } from '../model/pending-removal.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { entriesOfWord, indexes, lastWord, type Index } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import { memberOf, partOf } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OperationRequest } from './operation.ts'
import { saveResource, touchResource } from './writes.ts'

/**
 * The removal of references to something that has ended: a label, a membership, access to a board. The commit that ends it
 * also removes the first references. If more remain, it writes a pending removal, so that they count for nothing from then
 * on, and a tombstone, so that garbage collection removes them in batches.
 */

/**
 * The length of the descriptions of all cards that one commit writes. With more, a script on Redis would take longer than others should
 * wait.
 */
const MAX_CHARACTERS = 1_000_000

/** `batch` is the number of records that one commit may change. */
export type RemovalWork = Pick<OperationRequest, 'tx' | 'clock' | 'random' | 'batch'>

/**
 * Removes the first references. What remains is pending from the commit on.
 */
export async function beginRemoval(work: RemovalWork, of: RemovalOf): Promise<void> {
  const { tx, clock, random } = work
  const id = newId('tombstone', random)
  const rest = await removeBatch(work, { id, step: 0, after: null, ...of })
  if (rest === undefined) return
  const tombstone: Tombstone = { id, kind: 'references', target: targetOf(of), not_before: timestamp(clock) }
  tx.create(keys.tombstone(id), tombstone)
  replacePending(tx, await tx.get(keys.removals()), id, rest)
}

/**
 * Removes the next references of a pending removal. After the last, it is not pending any more.
 * @param id of its tombstone, which this transaction has read
 */
export async function continueRemoval(work: RemovalWork, id: string): Promise<void> {
  const { tx } = work
  const removals = await tx.get(keys.removals())
  const removal = removals?.pending.find((pending) => pending.id === id)
  const rest = removal && (await removeBatch(work, removal))
  if (removal !== undefined) replacePending(tx, tx.known(keys.removals()), id, rest)
  if (rest === undefined) tx.remove(keys.tombstone(id))
}

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
const SHARED = { visibility: 'board' } as const

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

/** The entry of an assignment in {@link indexes.boardAssignments}. */
function assignmentEntry({ id }: Card, userId: string): string {
  return `${userId} ${id}`
}

function targetOf(of: RemovalOf): string {
  if (of.kind === 'label') return of.label_id
  if (of.kind === 'file') return of.file_id
  return of.kind === 'former_member' ? of.user_id : of.board_id
}

function replacePending(tx: Transaction, removals: PendingRemovals | undefined, id: string, rest: PendingRemoval | undefined): void {
  const others = (removals?.pending ?? [])
    .filter((pending) => pending.id !== id)
    .flatMap((pending) => withoutRepetition(pending, rest) ?? [])
  const pending = rest === undefined ? others : [...others, rest]
  if (pending.length > 0) tx.put(keys.removals(), { pending })
  else tx.remove(keys.removals())
}

/**
 * What remains of a pending removal when another one begins or goes on that includes it; undefined: nothing. So a client cannot make the
 * record grow by doing the same again: a file has one removal, and a user has one on each board.
 */
function withoutRepetition(pending: PendingRemoval, next: PendingRemoval | undefined): PendingRemoval | undefined {
  if (pending.kind === 'file') return next?.kind === 'file' && pending.file_id === next.file_id ? undefined : pending
  if (pending.kind !== 'assignments' || next?.kind !== 'assignments' || pending.board_id !== next.board_id) return pending
  const user_ids = pending.user_ids.filter((userId) => !next.user_ids.includes(userId))
  if (user_ids.length === pending.user_ids.length) return pending
  // Its users define the steps.
  return user_ids.length === 0 ? undefined : { ...pending, user_ids, step: 0, after: null }
}

/** A range of an index whose entries are references, and how those are removed. */
interface Step<T = unknown> {
  readonly index: Index<T>
  /** only the entries that begin with this word; undefined: all */
  readonly word?: string
  /** how many of the records one commit may change, from the first on, and how many records it then writes; default: by their length */
  fit?(values: readonly (T | undefined)[], room: number): Promise<{ count: number; written: number }>
  remove(entries: readonly string[], values: readonly (T | undefined)[]): Promise<void> | void
}

/**
 * Removes references, as many as one commit may.
 * @returns the removal of what may remain
 */
async function removeBatch(work: RemovalWork, removal: PendingRemoval): Promise<PendingRemoval | undefined> {
  const steps = stepsOf(work, removal)
  let { step, after } = removal
  for (let room = work.batch; step < steps.length; step++, after = null) {
    const { index, word, fit, remove } = steps[step]!
    const bounds = word === undefined ? {} : entriesOfWord(word)
    const { entries, values } = await work.tx.range(index, { ...bounds, ...(after !== null && { after }), limit: room })
    const cards = fittingCards(values, entries.length)
    const { count, written } = fit === undefined ? { count: cards, written: cards } : await fit(values, room)
    await remove(entries.slice(0, count), values.slice(0, count))
    room -= written
    if (room <= 0 || count < entries.length) return { ...removal, step, after: entries[count - 1]! }
  }
  return undefined
}

/**
 * The number of cards from the first on that one commit may write: at least one.
 * @param count the number of entries
 */
function fittingCards(values: readonly unknown[], count: number): number {
  let characters = 0
  const excess = values.findIndex((card) => (characters += (card as Card | undefined)?.description?.length ?? 0) > MAX_CHARACTERS)
  return excess === -1 ? count : Math.max(excess, 1)
}

function stepsOf(work: RemovalWork, removal: PendingRemoval): readonly Step<any>[] {
  const { tx, clock } = work
  const change = async (cards: readonly (Card | undefined)[], changed: (card: Card) => Partial<Card>): Promise<void> => {
    await readBoards(
      tx,
      cards.map((card) => card?.board_id),
    )
    for (const card of cards) if (card !== undefined) saveResource({ tx, clock }, keys.card, card, changed(card))
  }
  const unassign = (cards: readonly (Card | undefined)[], userId: string): Promise<void> =>
    change(cards, ({ assignee_ids }) => ({ assignee_ids: assignee_ids.filter((id) => id !== userId) }))

  if (removal.kind === 'label') {
    const { label_id } = removal
    const remove: Step<Card>['remove'] = (_entries, cards) =>
      change(cards, ({ label_ids }) => ({ label_ids: label_ids.filter((id) => id !== label_id) }))
    return [{ index: indexes.labelCards(label_id), remove }]
  }
  if (removal.kind === 'assignments')
    return removal.user_ids.map((userId): Step<Card> => ({
      index: indexes.boardAssignments(removal.board_id),
      word: userId,
      remove: (entries, cards) =>
        unassign(
          cards.filter((_card, i) => !removal.kept.includes(entries[i]!)),
          userId,
        ),
    }))
  if (removal.kind === 'file') {
    const remove: Step<AttachmentRecord>['remove'] = (_entries, attachments) => touchAttachments(work, attachments)
    return [{ index: indexes.fileAttachments(removal.file_id), remove }]
  }
  const { user_id } = removal
  const leaveBoards: Step['remove'] = async (entries) => {
    await readBoards(tx, entries.map(lastWord))
    const boardMembers = entries.map((entry) => keys.boardMember(lastWord(entry), user_id))
    const present = await tx.read(boardMembers)
    for (const [i, key] of boardMembers.entries()) if (present[i] !== undefined) tx.remove(key)
  }
  return [
    { index: indexes.boardsOf(user_id), remove: leaveBoards },
    { index: indexes.assignmentsOf(user_id), remove: (_entries, cards: readonly (Card | undefined)[]) => unassign(cards, user_id) },
    {
      index: indexes.privateFilesOf(user_id),
      fit: (files, room) => fittingFiles(tx, files, room),
      remove: (_entries, files) => share(work, files),
    },
  ]
}

/** Gives private files of a former member the visibility `board`. */
async function share(work: RemovalWork, files: readonly (FileRecord | undefined)[]): Promise<void> {
  const { tx, batch } = work
  const present = files.filter((file) => file !== undefined)
  const ranges = present.map(({ id }) => ({ index: indexes.fileAttachments(id), options: { limit: batch } }))
  // All in two steps: what follows finds them in the transaction.
  await tx.prefetch({ ranges })
  const pages = await tx.load({ ranges })
  await readParents(
    tx,
    pages.ranges.flatMap(({ values }) => values as (AttachmentRecord | undefined)[]),
  )
  for (const file of present) {
    saveResource(work, keys.file, file, SHARED)
    await beginRemoval(work, { kind: 'file', file_id: file.id })
  }
}

/** The number of files from the first on that one commit may change with their attachments: at least one. */
async function fittingFiles(
  tx: Transaction,
  files: readonly (FileRecord | undefined)[],
  room: number,
): Promise<{ count: number; written: number }> {
  const attachments = await tx.counts(files.map((file) => indexes.fileAttachments(file?.id ?? '')))
  let written = 0
  const excess = attachments.findIndex((count, i) => (written += 1 + count) > room && i > 0)
  return excess === -1 ? { count: files.length, written } : { count: excess, written: room }
}

/** Writes attachments again, because their file has changed. */
async function touchAttachments(work: RemovalWork, attachments: readonly (AttachmentRecord | undefined)[]): Promise<void> {
  await readParents(work.tx, attachments)
  for (const attachment of attachments) if (attachment !== undefined) touchResource(work, keys.attachment, attachment)
}

/** Reads the cards and boards of attachments, so that changes are in the feeds, unless the card or the board was deleted. */
async function readParents(tx: Transaction, attachments: readonly (AttachmentRecord | undefined)[]): Promise<void> {
  const ids = new Set(attachments.flatMap((attachment) => attachment?.card_id ?? []))
  const cards = [...ids].map((id) => partOf(keys.card(id), 'id', 'board_id'))
  await tx.read(cards.flatMap((card) => [card, partOf(keys.board(memberOf(card, 'board_id')), 'id')]))
}

/** Reads boards, so that changes on them are in their feeds, unless a board was deleted. */
async function readBoards(tx: Transaction, boardIds: readonly (string | undefined)[]): Promise<void> {
  const ids = new Set(boardIds.filter((id) => id !== undefined))
  await tx.read([...ids].map((id) => partOf(keys.board(id), 'id')))
}
