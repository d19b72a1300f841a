import type { Board, BoardMember } from '../model/board.ts'
import { notFound } from '../model/failure.ts'
import { isId } from '../model/ids.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Caller } from './situation.ts'

/** A board, and what the caller is to it. */
export interface LoadedBoard {
  readonly board: Board
  readonly boardMember: BoardMember | undefined
}

/**
 * Reads the board that a path names.
 * @throws {Failure} `not_found`, for what could not be an id as for what is none
 */
export async function loadBoard(tx: Transaction, caller: Caller, boardId: string): Promise<LoadedBoard> {
  if (!isId('board', boardId)) throw notFound()
  const [board, boardMember] = await tx.read([keys.board(boardId), keys.boardMember(boardId, caller.userId)])
  if (board === undefined) throw notFound()
  return { board, boardMember }
}
