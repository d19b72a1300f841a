import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { workspaceOf } from '../memberships.ts'
import type { ListedCard } from './board-data.ts'
import { readPeople } from './people.ts'
import { BOARD_SCRIPTS, workspacePage } from './reader.ts'
import { cardSearchOf, cardViews, searchQuery } from './search-filters.ts'
import { renderSearch } from './search-view.ts'

/** Cards of a page: each can be on a board of its own, which is read for its name. */
const SHOWN_CARDS = 50

/** The cards of all boards of a workspace that a person may see: what is theirs, what is due, what was changed. */
export const cardsPage = workspacePage('cards', 'cards.search', async (reader) => {
  const { web, session, query } = reader.context
  const search = cardSearchOf(query)
  const cursor = query.get('cursor') ?? undefined
  const asked = { ...searchQuery(search, web.clock()), limit: String(SHOWN_CARDS), cursor }
  const { data, nextCursor } = await reader.read('cards.search', {}, asked)
  const found = data as ListedCard[]
  const ids = [...new Set(found.map(({ board_id }) => board_id))]
  const [read, people, workspace] = await Promise.all([
    Promise.all(ids.map((board_id) => reader.find<BoardSnapshot>('boards.read', { board_id }, { include: 'columns' }))),
    readPeople(reader),
    workspaceOf(web, session.user_id, reader.workspaceId),
  ])
  const boards = new Map(read.flatMap((board) => (board === undefined ? [] : [[board.id, board]])))
  // A board that the person lost since the search takes its cards with it.
  const cards = found.filter(({ board_id }) => boards.has(board_id))
  const shown = { cards, boards, people, next: nextCursor ?? undefined, isContinued: cursor !== undefined }
  const body = renderSearch(search, shown, workspace?.name ?? '', reader.base, web.clock())
  return { title: cardViews[search.view], body, scripts: BOARD_SCRIPTS }
})
