import type { Card } from '../../model/card.ts'
import { indexes, sortedGroup, type CardState, type Index, type TimedSort } from '../../store/indexes.ts'
import type { OperationRequest } from '../operation.ts'
import { boardsWithRef } from './external-refs.ts'
import { indexedIds, onlyId } from './filter.ts'
import type { CardSearchQuery } from './schema.ts'
import { partsOfEachCard } from './named.ts'
import type { SearchedBoards } from './searched-boards.ts'

/** Entries of an index among which the wanted cards are. */
export interface Source {
  readonly index: Index<Card>
  /** the word that the entries begin with; undefined: all entries */
  readonly word?: string
  /** whether the entries are in the order of the search, so that it ends where no further card can be wanted */
  readonly isSorted?: boolean
  /** the place of its first card, if it is known */
  readonly first?: string
}

/** The entries with the fewest cards that are not wanted. None is of a hidden board, except of one that the caller just lost. */
export async function sourcesOf(
  { tx, caller }: Pick<OperationRequest, 'tx' | 'caller'>,
  query: CardSearchQuery,
  sort: TimedSort,
  boards: SearchedBoards,
): Promise<readonly Source[]> {
  const { board_id, column_id, label_id, blocker_id, assignee_id, completed_by, external_ref } = query
  const [labels, assignees] = [indexedIds(label_id), indexedIds(assignee_id)]
  const inGroups = (index: Index<Card>, isSorted: boolean): Source[] => groupsOf(query).map((word) => ({ index, word, isSorted }))
  const isOneBoard = board_id !== undefined || partsOfEachCard(query).length > 0
  // Those who lose their access are unassigned, so that the caller's own cards need no search board by board.
  if (onlyId(assignee_id) === caller.userId && !isOneBoard && external_ref === undefined)
    return inGroups(indexes.sortedCards(sort, caller.userId), true)
  const searched = await boards.of(query)
  if (searched.length === 0) return []
  if (external_ref !== undefined) {
    const index = indexes.cardsWithRef(external_ref)
    return (await boardsWithRef(tx, searched, external_ref)).map(({ board: { id } }) => ({ index, word: id }))
  }
  if (blocker_id !== undefined) return [{ index: indexes.blockedCards(blocker_id) }]
  // A card can be in several of these: with the last one, its page has it once.
  if (labels !== undefined) return labels.map((id) => ({ index: indexes.labelCards(id) }))
  if (column_id !== undefined) return column_id.flatMap((id) => statesOf(query).map((state) => ({ index: indexes.cards(state, id) })))
  return searched.flatMap(({ board: { id } }) => {
    if (completed_by !== undefined) return inGroups(indexes.cardsCompletedBy(id, completed_by), sort === 'completed_at')
    if (assignees !== undefined) return assignees.map((word) => ({ index: indexes.boardAssignments(id), word }))
    return inGroups(indexes.sortedCards(sort, id), true)
  })
}

/** The states that cards of a query can have. A card of an archived column is archived, too, and has the state of the active ones. */
function statesOf({ archived }: CardSearchQuery): CardState[] {
  return archived ? ['active', 'archived'] : ['active']
}

/** The groups that the cards of a query can be in. */
function groupsOf(query: CardSearchQuery): string[] {
  const completed = query.completed ?? (query.ready === true ? false : undefined)
  return statesOf(query).flatMap((state) => (completed === undefined ? [false, true] : [completed]).map((done) => sortedGroup(state, done)))
}
