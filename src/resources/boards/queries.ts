import type { Board } from '../../model/board.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { CountedIndexes } from '../counts.ts'
import type { Candidates, OperationRequest } from '../operation.ts'

/** The indexes behind `?include=counts`. */
export function boardCountIndexes({ id }: Board): CountedIndexes {
  return { columns: indexes.columns(id), cards: indexes.boardCards(id), labels: indexes.labels(id) }
}

/**
 * Boards that the caller may see, oldest first. Two indexes with the same order are merged: boards that are open to the
 * workspace, and boards that the caller created or joined. So the cost does not depend on other users' private boards.
 */
export async function boardCandidates(
  { tx, caller }: Pick<OperationRequest, 'tx' | 'caller'>,
  after: string | undefined,
  limit: number,
): Promise<Candidates<Board>> {
  const options = { after, limit }
  const { ranges } = await tx.load({
    ranges: [
      { index: indexes.workspaceBoards(), options },
      { index: indexes.boardsOf(caller.userId), options },
    ],
  })
  const merged = new Map(ranges.flatMap(({ entries, values }) => entries.map((entry, i) => [entry, values[i]] as const)))
  const next = [...merged].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit)
  const memberships = await tx.read(next.map(([entry]) => keys.boardMember(lastWord(entry), caller.userId)))
  const candidates = next.map(([position, board], i) => ({
    position,
    item: board && { context: { board, boardMember: memberships[i] }, data: board },
  }))
  return { candidates, more: candidates.length >= limit }
}
