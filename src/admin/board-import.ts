import { isId } from '../model/ids.ts'
import { isActive } from '../model/workspace.ts'
import { keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { boardLine, type BoardLine } from './board-lines.ts'
import { HiddenBoard } from './board-import-session.ts'
import { BoardRecords } from './board-records.ts'
import { AdminError, type AdminDeps, type CommandIo } from './deps.ts'
import { requireWorkspace } from './workspaces.ts'

/** What an import of a board has created. */
export interface ImportedBoard {
  readonly board_id: string
  readonly records: number
}

/**
 * Creates a board in a workspace from the lines of `board-lines.ts`. It is accessible only when the last line was read. A failed import
 * leaves nothing. If the process ends before, garbage collection removes the records after an hour.
 * @param workspaceId the workspace
 * @param userId the creator of the board, an active member
 * @throws {AdminError} `not_found`; `conflict` if a member leaves meanwhile; `invalid` if the lines are not a whole board
 */
export async function importBoard(
  deps: AdminDeps,
  { workspace: workspaceId, user: userId }: { readonly workspace: string; readonly user: string },
  io: CommandIo,
): Promise<ImportedBoard> {
  await requireWorkspace(deps, workspaceId)
  await requireMember(deps, workspaceId, userId)
  const hidden = await HiddenBoard.begin(deps, workspaceId, userId)
  try {
    const records = new BoardRecords(deps, hidden.id, userId)
    for await (const line of readLines(io.lines)) {
      await hidden.write(records.of(line))
      if (hidden.hasWritten) io.progress(`${hidden.count} records`)
    }
    await hidden.publish(records.board)
  } catch (error) {
    // If this fails too, garbage collection removes the rest.
    await hidden.clear().catch(() => undefined)
    throw error
  }
  return { board_id: hidden.id, records: hidden.count }
}

async function requireMember({ store, random }: AdminDeps, workspaceId: string, userId: string): Promise<void> {
  const membership = isId('user', userId) ? await transact(store, workspaceId, random, (tx) => tx.get(keys.membership(userId))) : undefined
  if (!isActive(membership)) throw new AdminError('not_found', `${userId} is not a member of ${workspaceId}`)
}

/** @throws {AdminError} `invalid` if a line is malformed, or the last one is missing */
async function* readLines(lines: AsyncIterable<string>): AsyncGenerator<BoardLine> {
  let count = 0
  for await (const text of lines) {
    const parsed = boardLine.safeParse(parseJson(text))
    if (!parsed.success) throw new AdminError('invalid', `line ${count + 1} is not a valid line of a board`)
    if ('end' in parsed.data) {
      if (parsed.data.end !== count) break
      return
    }
    count++
    yield parsed.data
  }
  throw new AdminError('invalid', `the board is incomplete: it ends after ${count} lines`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
