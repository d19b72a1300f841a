import { requireCapacity } from '../resources/capacity.ts'
import { isId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { isActive } from '../model/workspace.ts'
import type { Board } from '../model/board.ts'
import { ApiError } from '../model/errors.ts'
import { SERVICE } from '../store/derivation.ts'
import { type Deps, transact } from '../store/transact.ts'
import { indexes } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { AdminError } from './deps.ts'

/**
 * Makes an active member the creator of a board, for example because its creator has left. The present creator, if still an
 * active member, becomes an explicit member of the board, so that they keep their access.
 * @throws {AdminError} `not_found`; `conflict` if the user is the creator, or the board is full of explicit members
 */
export async function transferBoard({ store, clock, random }: Deps, workspaceId: string, boardId: string, userId: string): Promise<Board> {
  return transact(store, workspaceId, random, async (tx) => {
    const board = isId('board', boardId) ? await tx.get(keys.board(boardId)) : undefined
    if (board === undefined) throw new AdminError('not_found', `there is no board ${boardId} in ${workspaceId}`)
    if (board.creator_id === userId) throw new AdminError('conflict', `${userId} is the creator of ${boardId} already`)
    const [membership, entry, present, presentEntry] = await tx.read([
      keys.membership(userId),
      keys.boardMember(boardId, userId),
      keys.membership(board.creator_id),
      keys.boardMember(boardId, board.creator_id),
    ])
    if (!isActive(membership)) throw new AdminError('not_found', `${userId} is not a member of ${workspaceId}`)
    tx.logChanges(SERVICE, clock)
    const now = timestamp(clock)
    // A creator has no entry.
    if (entry !== undefined) tx.remove(keys.boardMember(boardId, userId))
    else if (isActive(present)) await requirePlace(tx, boardId)
    if (isActive(present) && presentEntry === undefined)
      tx.put(keys.boardMember(boardId, board.creator_id), {
        board_id: boardId,
        user_id: board.creator_id,
        board_created_at: board.created_at,
        added_at: now,
      })
    const transferred: Board = { ...board, creator_id: userId, updated_at: now }
    tx.put(keys.board(boardId), transferred)
    return transferred
  })
}

async function requirePlace(tx: Transaction, boardId: string): Promise<void> {
  try {
    await requireCapacity(tx, indexes.boardMembers(boardId), 'membersPerBoard')
  } catch (error) {
    if (error instanceof ApiError) throw new AdminError('conflict', error.message)
    throw error
  }
}
