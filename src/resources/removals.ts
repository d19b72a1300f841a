import type { Card } from '../model/card.ts'
import type { AttachmentRecord, FileRecord } from '../model/file.ts'
import { newId } from '../model/ids.ts'
import type { PendingRemoval, PendingRemovals, RemovalOf } from '../model/pending-removal.ts'
import { timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'
import { entriesOfWord, indexes, lastWord, type Index } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import { memberOf, partOf } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import type { OperationRequest } from './operation.ts'
import { SHARED } from './pending-removals.ts'
import { saveResource, touchResource } from './writes.ts'

// The removal of references to something that has ended: a label, a membership, access to a board. The commit that ends it also removes the
// first references. If more remain, it writes a pending removal, so that they count for nothing from then on (see pending-removals.ts), and
// a tombstone, so that garbage collection removes them in batches.

/**
 * The length of the descriptions of all cards that one commit writes. With more, a script on Redis would take longer than others should
 * wait.
 */
const MAX_CHARACTERS = 1_000_000

/** `batch` is the number of records that one commit may change. */
export type RemovalWork = Pick<OperationRequest, 'tx' | 'clock' | 'random' | 'batch'>

/** Removes the first references. What remains is pending from the commit on. */
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

function targetOf(of: RemovalOf): string {
  if (of.kind === 'label') return of.label_id
  if (of.kind === 'file') return of.file_id
  return of.kind === 'former_member' ? of.user_id : of.board_id
}

/** @param rest of the removal with this id; undefined: it has ended */
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

/** The records of entries; undefined for one that was deleted. */
type Found<T> = readonly (T | undefined)[]

/** How many of the records that were found one commit may change, from the first on, and how many records it then writes. */
type Fitting = { readonly count: number; readonly written: number }

/** A range of an index whose entries are references, and how those are removed. */
interface Step<T> {
  readonly index: Index<T>
  /** only the entries that begin with this word; undefined: all */
  readonly word?: string
  /** default: {@link fittingCards} */
  fit?(found: Found<T>, room: number): Promise<Fitting>
  remove(found: Found<T>, entries: readonly string[]): Promise<void>
}

/** The steps of a removal. They are the same for each of its batches. */
function stepsOf(work: RemovalWork, removal: PendingRemoval): readonly Step<any>[] {
  if (removal.kind === 'label') {
    const { label_id } = removal
    return [{ index: indexes.labelCards(label_id), remove: (cards) => removeFrom(work, cards, 'label_ids', label_id) }]
  }
  if (removal.kind === 'assignments') {
    const { board_id, user_ids, kept } = removal
    return user_ids.map((userId): Step<Card> => ({
      index: indexes.boardAssignments(board_id),
      word: userId,
      remove(cards, entries) {
        const ended = cards.filter((_card, i) => !kept.includes(entries[i]!))
        return removeFrom(work, ended, 'assignee_ids', userId)
      },
    }))
  }
  if (removal.kind === 'file')
    return [{ index: indexes.fileAttachments(removal.file_id), remove: (attachments) => touchAttachments(work, attachments) }]
  const { user_id } = removal
  return [
    { index: indexes.boardsOf(user_id), remove: (_boards, entries) => leaveBoards(work, entries.map(lastWord), user_id) },
    { index: indexes.assignmentsOf(user_id), remove: (cards) => removeFrom(work, cards, 'assignee_ids', user_id) },
    {
      index: indexes.privateFilesOf(user_id),
      fit: (files, room) => fittingFiles(work, files, room),
      remove: (files) => shareFiles(work, files),
    },
  ]
}

/**
 * Removes references, as many as one commit may.
 * @returns the removal of what may remain
 */
async function removeBatch(work: RemovalWork, removal: PendingRemoval): Promise<PendingRemoval | undefined> {
  const steps = stepsOf(work, removal)
  let { step, after } = removal
  for (let room = work.batch; step < steps.length; step++, after = null) {
    const { index, word, fit = fittingCards, remove } = steps[step]!
    const bounds = word === undefined ? {} : entriesOfWord(word)
    const { entries, values } = await work.tx.range(index, { ...bounds, ...(after !== null && { after }), limit: room })
    const { count, written } = await fit(values, room)
    await remove(values.slice(0, count), entries.slice(0, count))
    room -= written
    if (room <= 0 || count < entries.length) return { ...removal, step, after: entries[count - 1]! }
  }
  return undefined
}

/** At least one card, and as many as their descriptions allow. Other records have short descriptions. */
async function fittingCards(cards: Found<Partial<Card>>): Promise<Fitting> {
  let characters = 0
  const excess = cards.findIndex((card) => (characters += card?.description?.length ?? 0) > MAX_CHARACTERS)
  const count = excess === -1 ? cards.length : Math.max(excess, 1)
  return { count, written: count }
}

/** At least one file. Its attachments are written with it. */
async function fittingFiles({ tx }: RemovalWork, files: Found<FileRecord>, room: number): Promise<Fitting> {
  const attachments = await tx.counts(files.map((file) => indexes.fileAttachments(file?.id ?? '')))
  let written = 0
  const excess = attachments.findIndex((count, i) => (written += 1 + count) > room && i > 0)
  return excess === -1 ? { count: files.length, written } : { count: excess, written: room }
}

/** Removes an id from a list of cards. */
async function removeFrom(work: RemovalWork, cards: Found<Card>, list: 'label_ids' | 'assignee_ids', id: string): Promise<void> {
  const present = cards.filter((card) => card !== undefined)
  const boardIds = present.map(({ board_id }) => board_id)
  await readBoards(work, boardIds)
  for (const card of present) saveResource(work, keys.card, card, { [list]: card[list].filter((other) => other !== id) })
}

/** Removes the explicit memberships of a user, which the boards may have. */
async function leaveBoards(work: RemovalWork, boardIds: readonly string[], userId: string): Promise<void> {
  await readBoards(work, boardIds)
  const boardMembers = boardIds.map((boardId) => keys.boardMember(boardId, userId))
  const present = await work.tx.read(boardMembers)
  for (const [i, key] of boardMembers.entries()) if (present[i] !== undefined) work.tx.remove(key)
}

/** Gives private files of a former member the visibility `board`. */
async function shareFiles(work: RemovalWork, files: Found<FileRecord>): Promise<void> {
  const { tx, batch } = work
  const present = files.filter((file) => file !== undefined)
  const ranges = present.map(({ id }) => ({ index: indexes.fileAttachments(id), options: { limit: batch } }))
  // All in two steps: what follows finds them in the transaction.
  await tx.prefetch({ ranges })
  const pages = await tx.load({ ranges })
  const attachments = pages.ranges.flatMap(({ values }) => values as Found<AttachmentRecord>)
  await readParents(work, attachments)
  for (const file of present) {
    saveResource(work, keys.file, file, SHARED)
    await beginRemoval(work, { kind: 'file', file_id: file.id })
  }
}

/** Writes attachments again, because their file has changed. */
async function touchAttachments(work: RemovalWork, attachments: Found<AttachmentRecord>): Promise<void> {
  await readParents(work, attachments)
  for (const attachment of attachments) if (attachment !== undefined) touchResource(work, keys.attachment, attachment)
}

/** Reads the cards and boards of attachments, so that changes are in the feeds, unless the card or the board was deleted. */
async function readParents({ tx }: RemovalWork, attachments: Found<AttachmentRecord>): Promise<void> {
  const ids = new Set(attachments.flatMap((attachment) => attachment?.card_id ?? []))
  const cards = [...ids].map((id) => partOf(keys.card(id), 'id', 'board_id'))
  await tx.read(cards.flatMap((card) => [card, partOf(keys.board(memberOf(card, 'board_id')), 'id')]))
}

/** Reads boards, so that changes on them are in their feeds, unless a board was deleted. */
async function readBoards({ tx }: RemovalWork, boardIds: readonly string[]): Promise<void> {
  await tx.read([...new Set(boardIds)].map((id) => partOf(keys.board(id), 'id')))
}
