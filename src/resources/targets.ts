import type { Board, BoardMember } from '../model/board.ts'
import type { Card } from '../model/card.ts'
import type { Column } from '../model/column.ts'
import type { Comment } from '../model/comment.ts'
import { notFound } from '../model/errors.ts'
import type { Attachment, FileRecord } from '../model/file.ts'
import { isId, type IdKind } from '../model/ids.ts'
import type { Label } from '../model/label.ts'
import type { Subtask } from '../model/subtask.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Caller } from '../authz/context.ts'

/**
 * Reading what a path names. Each thing is read together with what it hangs on, up to its board, in one
 * snapshot: whether it may be seen is decided on that board, never on what the request says.
 */

/** A board, and what the caller is to it. */
export interface OnBoard {
  readonly board: Board
  readonly boardMember: BoardMember | undefined
}

/** @throws {Failure} `not_found` where a text could not be an id of this kind: the same as for what is none */
export function requireId(kind: IdKind, text: string): void {
  if (!isId(kind, text)) throw notFound()
}

/** @throws {Failure} `not_found` */
export async function loadBoard(tx: Transaction, caller: Caller, boardId: string): Promise<OnBoard> {
  requireId('board', boardId)
  const [board, boardMember] = await tx.read([keys.board(boardId), keys.boardMember(boardId, caller.userId)])
  return { board: found(board), boardMember }
}

/** @throws {Failure} `not_found` */
export async function loadColumn(tx: Transaction, caller: Caller, columnId: string): Promise<OnBoard & { column: Column }> {
  requireId('column', columnId)
  const [column, ...above] = await tx.read([keys.column(columnId), ...boardOf(0, caller)])
  return { column: found(column), ...onBoard(above) }
}

/** @throws {Failure} `not_found` */
export async function loadLabel(tx: Transaction, caller: Caller, labelId: string): Promise<OnBoard & { label: Label }> {
  requireId('label', labelId)
  const [label, ...above] = await tx.read([keys.label(labelId), ...boardOf(0, caller)])
  return { label: found(label), ...onBoard(above) }
}

/** @throws {Failure} `not_found` */
export async function loadCard(tx: Transaction, caller: Caller, cardId: string): Promise<OnBoard & { card: Card }> {
  requireId('card', cardId)
  const [card, ...above] = await tx.read([keys.card(cardId), ...boardOf(0, caller)])
  return { card: found(card), ...onBoard(above) }
}

/** @throws {Failure} `not_found` */
export async function loadSubtask(tx: Transaction, caller: Caller, subtaskId: string): Promise<OnBoard & { card: Card; subtask: Subtask }> {
  requireId('subtask', subtaskId)
  const [subtask, card, ...above] = await tx.read([keys.subtask(subtaskId), keys.card('{0.card_id}'), ...boardOf(1, caller)])
  return { subtask: found(subtask), card: found(card), ...onBoard(above) }
}

/** @throws {Failure} `not_found` */
export async function loadComment(tx: Transaction, caller: Caller, commentId: string): Promise<OnBoard & { card: Card; comment: Comment }> {
  requireId('comment', commentId)
  const [comment, card, ...above] = await tx.read([keys.comment(commentId), keys.card('{0.card_id}'), ...boardOf(1, caller)])
  return { comment: found(comment), card: found(card), ...onBoard(above) }
}

/** @throws {Failure} `not_found` */
export async function loadAttachment(
  tx: Transaction,
  caller: Caller,
  attachmentId: string,
): Promise<OnBoard & { card: Card; attachment: Attachment; file: FileRecord }> {
  requireId('attachment', attachmentId)
  const [attachment, card, file, ...above] = await tx.read([
    keys.attachment(attachmentId),
    keys.card('{0.card_id}'),
    keys.file('{0.file_id}'),
    ...boardOf(1, caller),
  ])
  return { attachment: found(attachment), card: found(card), file: found(file), ...onBoard(above) }
}

/** @throws {Failure} `not_found` */
export async function loadFile(tx: Transaction, fileId: string): Promise<{ file: FileRecord }> {
  requireId('file', fileId)
  return { file: found(await tx.get(keys.file(fileId))) }
}

function boardOf(index: number, { userId }: Caller) {
  return [keys.board(`{${index}.board_id}`), keys.boardMember(`{${index}.board_id}`, userId)] as const
}

function onBoard([board, boardMember]: readonly [Board | undefined, BoardMember | undefined]): OnBoard {
  return { board: found(board), boardMember }
}

function found<T>(record: T | undefined): T {
  if (record === undefined) throw notFound()
  return record
}
