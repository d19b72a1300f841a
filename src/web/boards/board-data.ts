import type { Card } from '../../model/card.ts'
import type { Column } from '../../model/column.ts'
import type { Label } from '../../model/label.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { cardQuery, filtersOf, matchesDue, type BoardFilters } from './filters.ts'
import { TILE_PARTS, type ListedCard } from '../listed-card.ts'
import { readPeople, type People } from './people.ts'
import { questionText, readQuestions, readWaiting, type Waiting } from './questions.ts'
import { readAll, type Reader } from '../reader.ts'

/** Cards of a column that a board shows; a link leads to the others. */
const SHOWN_CARDS = 50
/** Pages of cards that are examined for a due time, because no operation has that filter. */
const EXAMINED_PAGES = 20
/** Columns that are read at the same time. */
const AT_ONCE = 4

/** What the tiles of cards need in addition to the cards. */
export interface TileFacts {
  /** the path of the workspace */
  readonly base: string
  /** a label of the board */
  labelOf(id: string): Label | undefined
  nameOf(userId: string): string
  /** the text of the question that a card waits for an answer to */
  questionOf(cardId: string): string | undefined
  readonly now: number
}

/** A column with the cards of it that are shown. */
export interface Lane {
  readonly column: Column
  readonly cards: readonly ListedCard[]
  /** the cursor of the cards after these; undefined: these are all */
  readonly cursor: string | undefined
}

/** A board with the data that its page shows. */
export interface BoardData {
  /** with its columns, its labels, and where the changes begin that may not be shown */
  readonly board: BoardSnapshot
  readonly people: People
  readonly lanes: readonly Lane[]
  /** what the tiles of the cards are rendered with */
  readonly tiles: TileFacts
  /** the cards that wait for an answer by the person, on all boards */
  readonly waiting: Waiting
  readonly filters: BoardFilters
  /** whether only one of its columns is shown */
  readonly isPart: boolean
  /** whether cards were left out because there are too many to examine */
  readonly isPartial: boolean
}

/** Reads a board, as the address asks for it. The order of the reads matters: what changes after the first one is in the feed. */
export async function readBoard(reader: Reader): Promise<BoardData> {
  const { web, params, query: asked } = reader.context
  const of = { board_id: params['board']! }
  const [filters, now] = [filtersOf(asked), web.clock()]
  const board = (await reader.read('boards.read', of, { include: 'columns,labels' })).data as BoardSnapshot
  const people = await readPeople(reader)
  const column = board.columns!.find(({ id }) => id === asked.get('column'))?.id
  const columns = board.columns!.filter(({ id }) => column === undefined || id === column)
  const query = { ...cardQuery(filters, board.labels ?? [], people.members), column_id: column, include: TILE_PARTS }
  const matches = (card: Card) => matchesDue(filters, card, now)
  const cursor = asked.get('cursor') ?? undefined
  const first = await readAll<ListedCard>(reader, ['cards.list', of, { ...query, cursor }], filters.due === '' ? 1 : EXAMINED_PAGES)
  const isWhole = first.cursor === undefined || column !== undefined || filters.due !== ''
  const lanes = isWhole
    ? columns.map((one) => ({
        column: one,
        cards: first.items.filter((card) => card.column_id === one.id && matches(card)),
        cursor: filters.due === '' ? first.cursor : undefined,
      }))
    : await readLanes(reader, columns, query, first.items)
  const shown = lanes.flatMap(({ cards }) => cards)
  const [questions, waiting] = await Promise.all([readQuestions(reader, shown), readWaiting(reader)])
  const labels = new Map((board.labels ?? []).map((label) => [label.id, label]))
  const tiles: TileFacts = {
    base: reader.base,
    labelOf: (id) => labels.get(id),
    nameOf: people.nameOf,
    questionOf: (cardId) => questionText(questions.get(cardId), people.memberName),
    now,
  }
  const isPartial = filters.due !== '' && first.cursor !== undefined
  return { board, people, lanes, tiles, waiting, filters, isPart: asked.has('column'), isPartial }
}

/**
 * Reads the columns of a large board one by one.
 * @param first the first cards of the board. They are in the order of its columns, so those before the column of the last one are complete.
 */
async function readLanes(
  reader: Reader,
  columns: readonly Column[],
  query: Readonly<Record<string, string | undefined>>,
  first: readonly ListedCard[],
): Promise<Lane[]> {
  const lastPlace = columns.findIndex(({ id }) => id === first.at(-1)?.column_id)
  const lanes: Lane[] = []
  for (let at = 0; at < columns.length; at += AT_ONCE) {
    const read = columns.slice(at, at + AT_ONCE).map(async (column, i) => {
      const known = at + i < lastPlace ? first.filter(({ column_id }) => column_id === column.id) : undefined
      if (known !== undefined && known.length <= SHOWN_CARDS) return { column, cards: known, cursor: undefined }
      const own = { ...query, column_id: column.id, limit: String(SHOWN_CARDS) }
      const { data, nextCursor } = await reader.read('cards.list', { board_id: column.board_id }, own)
      return { column, cards: data as ListedCard[], cursor: nextCursor ?? undefined }
    })
    lanes.push(...(await Promise.all(read)))
  }
  return lanes
}
