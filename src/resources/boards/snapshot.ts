import { toPage } from '../../listing/pages.ts'
import type { Board } from '../../model/board.ts'
import { limits } from '../../model/limits.ts'
import { indexes, lastWord } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { firstPage } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import { toEntries } from '../board-members/operations.ts'
import { peopleOfBoard, peopleReads } from '../board-members/people.ts'
import { firstPageReads, listCards } from '../cards/queries.ts'
import { withClaims } from '../claims/present.ts'
import { withWork } from '../claims/work.ts'
import { endOfChanges, readEnd } from '../changes/feed.ts'
import { countAll } from '../counts.ts'
import type { OperationRequest } from '../operation.ts'
import { boardCountIndexes } from './queries.ts'
import type { BoardPart, BoardSnapshot } from './schema.ts'

type Parts = Omit<BoardSnapshot, keyof Board>
type Request = Pick<OperationRequest, 'tx' | 'clock' | 'examine'>

const ACTIVE = { archived: false } as const
const CARDS = { limit: limits.pageSize.max }
/** All of them: the creator is not counted. */
const PEOPLE = { limit: limits.membersPerBoard + 1 }

/**
 * Reads what is on a board, as it was at one moment: each access to storage validates what was read before. One access reads what can
 * be guessed. The last one counts, because a transaction does not rely on counts.
 */
export async function readParts(request: Request, board: Board, include: ReadonlySet<BoardPart>): Promise<Parts> {
  const { tx } = request
  await prefetchParts(tx, board, include)
  // The first read: a change that came after it is in the feed, whether or not the parts have it.
  const changes_cursor = await readEnd(tx, board.id)
  const columns = include.has('columns') ? await tx.all(indexes.columns(board.id)) : undefined
  const labels = include.has('labels') ? await tx.all(indexes.labels(board.id)) : undefined
  const cards = include.has('cards') ? await firstCards(request, board.id, include) : undefined
  await prefetchLast(tx, board, include)
  const people = include.has('members') ? await peopleOfBoard(tx, board, PEOPLE) : undefined
  const [counts] = include.has('counts') ? await countAll(tx, [boardCountIndexes(board)]) : []
  return {
    ...(columns && { columns: columns.values.filter((column) => column?.archived_at === null) as Parts['columns'] }),
    ...cards,
    ...(labels && { labels: labels.values.filter((label) => label !== undefined) }),
    ...(people && { members: toEntries(people.people, board) }),
    ...(counts && { counts: counts as NonNullable<Parts['counts']> }),
    changes_cursor,
  }
}

/** Reads the beginnings of all parts at once. */
async function prefetchParts(tx: Transaction, board: Board, include: ReadonlySet<BoardPart>): Promise<void> {
  const nothing = { records: [], ranges: [] }
  const cards = include.has('cards') ? firstPageReads(board.id, ACTIVE, CARDS.limit) : nothing
  const people = include.has('members') ? peopleReads(board, PEOPLE) : nothing
  const columns = include.has('columns') && !include.has('cards') ? [firstPage(indexes.columns(board.id))] : []
  const labels = include.has('labels') ? [firstPage(indexes.labels(board.id))] : []
  await tx.prefetch({
    records: [...cards.records, ...people.records],
    ranges: [endOfChanges(board.id), ...cards.ranges, ...people.ranges, ...columns, ...labels],
  })
}

async function firstCards(
  request: Request,
  boardId: string,
  include: ReadonlySet<BoardPart>,
): Promise<Pick<Parts, 'cards' | 'cards_cursor'>> {
  const { tx, examine } = request
  const { cards, positionAfter, more } = await listCards(tx, boardId, ACTIVE, CARDS, examine, { isPrefetched: true })
  const { data, nextCursor } = toPage('cards.list', cards, positionAfter(cards.length - 1), more)
  return { cards: [...(await withWork(request, { include }, await withClaims(request, { include }, data)))], cards_cursor: nextCursor }
}

/** Reads who the members are, and counts. */
async function prefetchLast(tx: Transaction, board: Board, include: ReadonlySet<BoardPart>): Promise<void> {
  const [members] = peopleReads(board, PEOPLE).ranges
  const entries = include.has('members') ? (await tx.range(members.index, members.options)).entries : []
  const counts = include.has('counts') ? Object.values(boardCountIndexes(board)) : []
  if (entries.length + counts.length === 0) return
  await tx.prefetch({ records: entries.map((entry) => keys.membership(lastWord(entry))), counts })
}
