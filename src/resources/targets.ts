import { notFound } from '../model/errors.ts'
import type { Board, BoardMember } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import type { Column } from '../model/column.ts'
import type { Comment } from '../model/comment.ts'
import type { Attachment, FileRecord } from '../model/file.ts'
import { isId, type IdKind } from '../model/ids.ts'
import type { Label } from '../model/label.ts'
import type { Subtask } from '../model/subtask.ts'
import { keys } from '../store/keys.ts'
import type { TargetRequest } from './operation.ts'

/**
 * The targets of paths. Each is loaded with the records that it belongs to, up to its board, in one snapshot. Access is
 * decided on that board, never on an id that the request states.
 */

/** A board, and the caller's explicit membership of it. */
export interface BoardTarget {
  readonly board: Board
  readonly boardMember: BoardMember | undefined
}

/** The board of `board_id`. @throws {ApiError} `not_found` */
export async function boardTarget({ tx, caller, params }: TargetRequest): Promise<BoardTarget> {
  const id = idOf('board', params['board_id'])
  const [board, boardMember] = await tx.read([keys.board(id), keys.boardMember(id, caller.userId)])
  return { board: requireFound(board), boardMember }
}

/** The column of `column_id`. @throws {ApiError} `not_found` */
export async function columnTarget({ tx, caller, params }: TargetRequest): Promise<BoardTarget & { column: Column }> {
  const id = idOf('column', params['column_id'])
  const [column, ...above] = await tx.read([keys.column(id), ...boardOf(0, caller.userId)])
  return { column: requireFound(column), ...toBoard(above) }
}

/** The label of `label_id`. @throws {ApiError} `not_found` */
export async function labelTarget({ tx, caller, params }: TargetRequest): Promise<BoardTarget & { label: Label }> {
  const id = idOf('label', params['label_id'])
  const [label, ...above] = await tx.read([keys.label(id), ...boardOf(0, caller.userId)])
  return { label: requireFound(label), ...toBoard(above) }
}

/** The card of `card_id`. @throws {ApiError} `not_found` */
export async function cardTarget({ tx, caller, params }: TargetRequest): Promise<BoardTarget & { card: Card }> {
  const id = idOf('card', params['card_id'])
  const [card, ...above] = await tx.read([keys.card(id), ...boardOf(0, caller.userId)])
  return { card: requireFound(card), ...toBoard(above) }
}

/** The subtask of `subtask_id`. @throws {ApiError} `not_found` */
export async function subtaskTarget({ tx, caller, params }: TargetRequest): Promise<BoardTarget & { card: Card; subtask: Subtask }> {
  const id = idOf('subtask', params['subtask_id'])
  const [subtask, card, ...above] = await tx.read([keys.subtask(id), keys.card('{0.card_id}'), ...boardOf(1, caller.userId)])
  return { subtask: requireFound(subtask), card: requireFound(card), ...toBoard(above) }
}

/** The comment of `comment_id`. @throws {ApiError} `not_found` */
export async function commentTarget({ tx, caller, params }: TargetRequest): Promise<BoardTarget & { card: Card; comment: Comment }> {
  const id = idOf('comment', params['comment_id'])
  const [comment, card, ...above] = await tx.read([keys.comment(id), keys.card('{0.card_id}'), ...boardOf(1, caller.userId)])
  return { comment: requireFound(comment), card: requireFound(card), ...toBoard(above) }
}

/** The attachment of `attachment_id`, with its file. @throws {ApiError} `not_found` */
export async function attachmentTarget({
  tx,
  caller,
  params,
}: TargetRequest): Promise<BoardTarget & { card: Card; attachment: Attachment; file: FileRecord }> {
  const id = idOf('attachment', params['attachment_id'])
  const [attachment, card, file, ...above] = await tx.read([
    keys.attachment(id),
    keys.card('{0.card_id}'),
    keys.file('{0.file_id}'),
    ...boardOf(1, caller.userId),
  ])
  return { attachment: requireFound(attachment), card: requireFound(card), file: requireFound(file), ...toBoard(above) }
}

/** The file of `file_id`. @throws {ApiError} `not_found` */
export async function fileTarget({ tx, params }: Pick<TargetRequest, 'tx' | 'params'>): Promise<{ file: FileRecord }> {
  return { file: requireFound(await tx.get(keys.file(idOf('file', params['file_id'])))) }
}

/** The user of `user_id`, with their explicit membership of the target's board. @throws {ApiError} `not_found` */
export async function relatedUser({ tx, params }: Pick<TargetRequest, 'tx' | 'params'>, { board }: BoardTarget) {
  const userId = idOf('user', params['user_id'])
  const [membership, boardMember] = await tx.read([keys.membership(userId), keys.boardMember(board.id, userId)])
  return { user: { membership: requireFound(membership), boardMember } }
}

/**
 * Returns a text that has the shape of an id.
 * @throws {ApiError} `not_found`: a malformed id is answered like an absent one
 */
export function idOf(kind: IdKind, text: string | undefined): string {
  if (text === undefined || !isId(kind, text)) throw notFound()
  return text
}

/** Returns a record that must be there. @throws {ApiError} `not_found` */
export function requireFound<T>(record: T | undefined): T {
  if (record === undefined) throw notFound()
  return record
}

/** The keys of the board of the record with this index in the same read, and of the caller's membership of it. */
function boardOf(index: number, userId: string) {
  return [keys.board(`{${index}.board_id}`), keys.boardMember(`{${index}.board_id}`, userId)] as const
}

function toBoard([board, boardMember]: readonly [Board | undefined, BoardMember | undefined]): BoardTarget {
  return { board: requireFound(board), boardMember }
}
