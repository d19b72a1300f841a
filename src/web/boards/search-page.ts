import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { workspaceOf } from '../memberships.ts'
import type { ListedCard } from '../listed-card.ts'
import { readPeople } from './people.ts'
import { readQuestions, readWaiting } from './questions.ts'
import { BOARD_SCRIPTS, workspacePage, type Reader } from '../reader.ts'
import { cardSearchOf, cardViews, isAllOfMine, searchQuery } from './search-filters.ts'
import { renderSearch } from './search-view.ts'

/** Cards of a page: each can be on a board of its own, which is read for its name. */
const SHOWN_CARDS = 50
/** Questions that stand before them with a form each; of others, the rows of their cards say so. */
const SHOWN_QUESTIONS = 20

/** The cards of all boards of a workspace that a person may see: what is theirs, what is due, what was changed. */
export const cardsPage = workspacePage('cards', 'cards.search', async (reader) => {
  const { web, session, query } = reader.context
  const search = cardSearchOf(query)
  const cursor = query.get('cursor') ?? undefined
  const asked = { ...searchQuery(search, web.clock()), limit: String(SHOWN_CARDS), cursor, include: 'work' }
  const [{ data, nextCursor }, waiting] = await Promise.all([reader.read('cards.search', {}, asked), readWaiting(reader)])
  const first = isAllOfMine(search) && cursor === undefined ? waiting.cards.slice(0, SHOWN_QUESTIONS) : []
  const found = data as ListedCard[]
  const ids = [...new Set([...first, ...found].map(({ board_id }) => board_id))]
  const [read, people, workspace, questions, answerable] = await Promise.all([
    Promise.all(ids.map((board_id) => reader.find<BoardSnapshot>('boards.read', { board_id }, { include: 'columns' }))),
    readPeople(reader),
    workspaceOf(web, session.user_id, reader.workspaceId),
    readQuestions(reader, [...first, ...found]),
    readAnswerable(reader, first),
  ])
  const boards = new Map(read.flatMap((board) => (board === undefined ? [] : [[board.id, board]])))
  // A board that the person lost since the search takes its cards with it.
  const cards = found.filter(({ board_id }) => boards.has(board_id))
  // The card that waits longest comes first.
  const asking = first
    .filter(({ id, board_id }) => boards.has(board_id) && questions.has(id))
    .toSorted((a, b) => (questions.get(a.id)!.created_at < questions.get(b.id)!.created_at ? -1 : 1))
  const shown = {
    cards,
    asking,
    questions,
    answerable,
    waiting,
    boards,
    people,
    next: nextCursor ?? undefined,
    isContinued: cursor !== undefined,
  }
  const body = renderSearch(reader, search, shown, workspace?.name ?? '')
  return { title: cardViews[search.view], body, scripts: BOARD_SCRIPTS }
})

/** The cards whose questions the person may answer. */
async function readAnswerable(reader: Reader, cards: readonly ListedCard[]): Promise<ReadonlySet<string>> {
  const may = await reader.allowedOf(cards.map(({ id }) => ({ operation: 'cards.answer', type: 'card', id })))
  return new Set(cards.flatMap(({ id }, i) => (may[i] ? [id] : [])))
}
