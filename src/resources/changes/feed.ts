import { decodeCursor, encodeCursor, fittingItems } from '../../listing/pages.ts'
import type { Board, BoardMember } from '../../model/board.ts'
import type { Card } from '../../model/card.ts'
import { wholeChange, type Change, type ChangedKind, type ChangeRecord } from '../../model/change.ts'
import { ApiError } from '../../model/errors.ts'
import type { AttachmentRecord, FileRecord } from '../../model/file.ts'
import type { PendingRemovals } from '../../model/pending-removal.ts'
import { isActive, type Membership } from '../../model/workspace.ts'
import { appendedEntry } from '../../store/appended.ts'
import { indexes } from '../../store/indexes.ts'
import { keys, type Key } from '../../store/keys.ts'
import { memberOf, type RangeOptions, type Read } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import { toAttachment } from '../attachments/attachment.ts'
import { toEntry } from '../board-members/operations.ts'
import { readClaims } from '../claims/present.ts'
import { readWorks } from '../claims/work.ts'
import type { OperationRequest } from '../operation.ts'
import { shownCard, shownFile } from '../pending-removals.ts'

/** The name of the list, which its cursors contain. */
export const CHANGES = 'boards.changes'
/** The word for the present end, in the place of a cursor. */
export const NOW = 'now'
/** The entry before the first one. */
const START = appendedEntry(0)
/** The revision in a cursor that no change precedes. */
const NO_REVISION = '-'

/**
 * A place in the feed: the last change that was read, and the revision of its commit. If storage lost that change, for example in a
 * failover, its number is used again by another one. The revision then shows that the copy of the reader is not of this history.
 */
function positionOf(entry: string, revision: string): string {
  return `${entry} ${revision}`
}

/** What is read for the cursor of the feed's present end, together with something else. */
export function endOfChanges(boardId: string) {
  return { index: indexes.changes(boardId), options: { limit: 1, reverse: true, weak: true } } as const
}

/** Reads the cursor of the feed's present end. */
export async function readEnd(tx: Transaction, boardId: string): Promise<string> {
  return encodeCursor(CHANGES, await readEndPosition(tx, boardId))
}

async function readEndPosition(tx: Transaction, boardId: string): Promise<string> {
  const { index, options } = endOfChanges(boardId)
  const { entries } = await tx.range(index, options)
  const [entry] = entries
  const revision = entry === undefined ? NO_REVISION : tx.revisionOf(keys.change(boardId, entry))!
  return positionOf(entry ?? START, revision)
}

/**
 * A cursor in a storage that was restored: its change has another revision there.
 * @returns the same one if that change is gone
 */
export async function restoredCursor(tx: Transaction, boardId: string, cursor: string): Promise<string> {
  const [entry = START, revision] = decodeCursor(CHANGES, cursor)?.split(' ') ?? []
  const key = keys.change(boardId, entry)
  const isKept = revision !== NO_REVISION && (await tx.get(key)) !== undefined
  return isKept ? encodeCursor(CHANGES, positionOf(entry, tx.revisionOf(key)!)) : cursor
}

export type FeedBoard = Pick<Board, 'id' | 'creator_id'>

/** A part of the feed. */
export interface ChangesPage {
  /** changes, with the cursor after each */
  readonly changes: readonly { readonly id: string; readonly data: Change }[]
  /** the position after the last one */
  readonly position: string
}

/** Reads a feed. */
type FeedRequest = Pick<OperationRequest, 'tx' | 'clock'>

/**
 * Reads the changes after a cursor, with the objects as they are now.
 * @param position a decoded cursor; undefined: from the first change of the board
 * @throws {ApiError} `cursor_expired`
 */
export async function readChanges(
  request: FeedRequest,
  board: FeedBoard,
  position: string | undefined,
  limit: number,
): Promise<ChangesPage> {
  const { tx } = request
  const [after = START, revision = NO_REVISION] = position?.split(' ') ?? []
  const { isKept, entries, values } = await loadPart(tx, board, [after, revision], { after, limit, weak: true })
  if (revision === NO_REVISION && after === START) requireStart(position === undefined, entries[0], values[0])
  else if (!isKept) throw new ApiError('cursor_expired')
  return (await toChanges(request, board, entries, values)) ?? { changes: [], position: positionOf(after, revision) }
}

/** Reads the changes after a cursor, or none from the present end. */
export async function readAfter(request: FeedRequest, board: FeedBoard, position: string | undefined, limit: number): Promise<ChangesPage> {
  if (position === NOW) return { changes: [], position: await readEndPosition(request.tx, board.id) }
  return readChanges(request, board, position, limit)
}

/** A part of the feed, newest first. */
export interface EarlierChanges {
  readonly changes: readonly Change[]
  /** the position that the older changes are before; undefined: these are the oldest that are kept */
  readonly position: string | undefined
}

/**
 * Reads the changes before a cursor, the newest first, with the objects as they are now.
 * @param position a decoded cursor, of either order; undefined: from the present end
 * @throws {ApiError} `cursor_expired`
 */
export async function readEarlierChanges(
  request: FeedRequest,
  board: FeedBoard,
  position: string | undefined,
  limit: number,
): Promise<EarlierChanges> {
  const [before, revision] = position?.split(' ') ?? []
  if (before === START) return { changes: [], position: undefined }
  const options = { before, limit: limit + 1, reverse: true, weak: true }
  const { isKept, entries, values } = await loadPart(request.tx, board, [before ?? START, revision], options)
  if (before !== undefined && !isKept) throw new ApiError('cursor_expired')
  const page = await toChanges(request, board, entries.slice(0, limit), values.slice(0, limit))
  const changes = page?.changes.map(({ data }) => data) ?? []
  return { changes, position: entries.length > changes.length ? page?.position : undefined }
}

/** Reads entries of the feed, and whether it still has the one that a cursor names. */
async function loadPart(
  tx: Transaction,
  board: FeedBoard,
  [entry, revision]: readonly [entry: string, revision: string | undefined],
  options: RangeOptions,
) {
  const named = keys.change(board.id, entry)
  const { records, ranges } = await tx.load({ records: [named], ranges: [{ index: indexes.changes(board.id), options }] })
  const [{ entries, values }] = ranges
  return { isKept: records[0] !== undefined && tx.revisionOf(named) === revision, entries, values }
}

/** Makes the changes of entries, as many as fit in a page; undefined without entries. */
async function toChanges(
  request: FeedRequest,
  board: FeedBoard,
  entries: readonly string[],
  values: readonly (ChangeRecord | undefined)[],
): Promise<ChangesPage | undefined> {
  if (entries.length === 0) return undefined
  const found = values.map((value) => value!)
  const objects = await objectsOf(request, board, found)
  const all = found.map((change, i): Change => ({ seq: Number(entries[i]), ...wholeChange(change), data: objects[i]! }))
  const positions = entries.map((entry) => positionOf(entry, request.tx.revisionOf(keys.change(board.id, entry))!))
  const changes = all.slice(0, fittingItems(all)).map((data, i) => ({ id: encodeCursor(CHANGES, positions[i]!), data }))
  return { changes, position: positions[changes.length - 1]! }
}

/** @throws {ApiError} `cursor_expired` if the feed does not begin with its first change any more */
function requireStart(whole: boolean, entry: string | undefined, change: ChangeRecord | undefined): void {
  if (entry !== undefined && entry !== appendedEntry(1)) throw new ApiError('cursor_expired')
  // The board is older than its feed: the feed alone does not give its state.
  if (whole && !(change?.kind === 'board' && change.action === 'created')) throw new ApiError('cursor_expired')
}

/** The objects that were changed, as the API shows them: as they are now, or were when they were deleted; null for all others. */
async function objectsOf(request: FeedRequest, board: FeedBoard, changes: readonly ChangeRecord[]): Promise<Change['data'][]> {
  const { tx } = request
  const changed = [...new Set(changes.filter(({ action }) => action !== 'deleted').map(({ kind, id }) => `${kind} ${id}`))]
  const deleted = changes.filter(({ last }) => last !== undefined)
  if (changed.length + deleted.length === 0) return changes.map(() => null)
  const reads = changed.flatMap((name) => {
    const [kind, id] = name.split(' ') as [ChangedKind, string]
    return readsOf(kind, id, board)
  })
  const leavers = [...new Set(deleted.flatMap(({ kind, id }) => (kind === 'board_member' ? [id] : [])))]
  const records = await tx.read([...reads, ...leavers.map((id) => keys.membership(id)), keys.removals()])
  const removals = records.at(-1) as PendingRemovals | undefined
  const claimed = changed.filter((name) => name.startsWith('claim ')).map((name) => name.slice('claim '.length))
  const claims = new Map((await readClaims(request, claimed)).map(({ live }, i) => [claimed[i]!, live ?? null]))
  const worked = changed.filter((name) => name.startsWith('work ')).map((name) => name.slice('work '.length))
  const cards = (await tx.read(worked.map((id) => keys.card(id)))).filter((card) => card !== undefined)
  const works = new Map((await readWorks(request, cards)).map((work, i) => [cards[i]!.id, work]))
  const objects = new Map(
    changed.map((name, i): readonly [string, Change['data']] => {
      const [kind, id] = name.split(' ') as [ChangedKind, string]
      const [record, owner, file] = records.slice(READS * i, READS * (i + 1))
      if (kind === 'claim') return [name, claims.get(id)!]
      if (kind === 'work') return [name, works.get(id) ?? null]
      const parents = { owner, file, board }
      return [name, record === undefined || owner === undefined ? null : toObject(kind, record, parents, removals)]
    }),
  )
  return changes.map(({ kind, id, action, last }): Change['data'] => {
    if (action !== 'deleted') return objects.get(`${kind} ${id}`)!
    if (last === undefined) return null
    // What was stored of an attachment has the members of its file.
    if (kind === 'attachment') return shownFile(last as unknown as FileRecord, removals)
    return toObject(kind, last, { owner: tx.known(keys.membership(id)), file: undefined, board }, removals)
  })
}

/** The number of reads of an object. */
const READS = 3

/** The record of an object, a record that it cannot exist without, and its file, or that record again. */
function readsOf(kind: ChangedKind, id: string, board: FeedBoard): [Read, Read, Read] {
  if (kind === 'board_member') return [keys.boardMember(board.id, id), keys.membership(id), keys.membership(id)]
  if (kind !== 'subtask' && kind !== 'comment' && kind !== 'attachment')
    return [kind === 'work' ? keys.card(id) : keys[kind](id), keys.board(board.id), keys.board(board.id)]
  const key: Key<{ readonly card_id: string }> = keys[kind](id)
  const card = keys.card(memberOf(key, 'card_id'))
  return [key, card, kind === 'attachment' ? keys.file(memberOf(keys.attachment(id), 'file_id')) : card]
}

/** The records that the representation of an object depends on. */
interface Parents {
  readonly owner: unknown
  readonly file: unknown
  readonly board: FeedBoard
}

function toObject(
  kind: ChangedKind,
  record: unknown,
  { owner, file, board }: Parents,
  removals: PendingRemovals | undefined,
): Change['data'] {
  if (kind === 'card') return shownCard(record as Card, removals)
  if (kind === 'attachment') return toAttachment(record as AttachmentRecord, shownFile(file as FileRecord, removals))
  if (kind !== 'board_member') return record as Record<string, unknown>
  // Board memberships of former members count for nothing, and are removed in batches.
  const membership = owner as Membership
  return isActive(membership) ? toEntry(membership, membership.user_id === board.creator_id, (record as BoardMember).added_at) : null
}
