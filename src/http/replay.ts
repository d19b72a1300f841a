import { notFound } from '../model/errors.ts'
import type { FirstResponse } from '../model/idempotency.ts'
import type { OperationRequest } from '../resources/operation.ts'
import { loadTarget } from '../resources/targets.ts'
import { keys } from '../store/keys.ts'
import type { SingleOperation } from './attempt.ts'
import type { AttemptRecord } from './decision-record.ts'
import { requireVisible } from './permission.ts'
import type { Services } from './services.ts'

/**
 * Decides whether the caller has access now to what the first response shows (spec §5 "Credential" 5; src/http/README.md, "Safe retries"):
 * to its board, or else to the target of the path. A resource that was deleted since is answered like a hidden one, unless the write is the
 * deletion of the board, whose response shows nothing of it.
 * @throws {ApiError} `not_found`
 */
export async function requireStillVisible(
  services: Services,
  operation: SingleOperation,
  request: OperationRequest,
  first: FirstResponse,
  record: AttemptRecord,
): Promise<void> {
  const { tx, caller } = request
  const { board_id } = first
  if (board_id === null) {
    record.absent = true
    const target = await loadTarget(operation.target, request)
    delete record.absent
    return requireVisible(services, operation, caller, target, record, { isWhole: true })
  }
  const [board, boardMember] = await tx.read([keys.board(board_id), keys.boardMember(board_id, caller.userId)])
  if (board !== undefined) {
    // The creation of a board is decided without one.
    for (const { permission } of [operation, READ_BOARD]) requireVisible(services, { permission }, caller, { board, boardMember }, record)
    return
  }
  if (isDeletionOf(board_id, first)) return
  record.absent = true
  throw notFound()
}

/** Who reads a board may see what was answered about it. */
const READ_BOARD = { permission: 'read Board' }

function isDeletionOf(boardId: string, { data }: FirstResponse): boolean {
  const { id, deleted } = data as { readonly id?: unknown; readonly deleted?: unknown }
  return id === boardId && deleted === true
}
