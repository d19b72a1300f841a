import { ApiError } from '../../model/errors.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { workspaceOf } from '../memberships.ts'
import type { Page } from '../page-context.ts'
import type { ListedCard } from './board-data.ts'
import { readPeople } from './people.ts'
import { BOARD_SCRIPTS, ifFound, readerOf, type Reader } from './reader.ts'
import { cardSearchOf, cardViews, searchQuery } from './search-filters.ts'
import { renderSearch } from './search-view.ts'

/** Cards of a page: each can be on a board of its own, which is read for its name. */
const SHOWN_CARDS = 50

/** The cards of all boards of a workspace that a person may see: what is theirs, what is due, what was changed. */
export const cardsPage: Page = {
  path: '/app/{workspace}/cards',
  anonymous: false,
  get: (context) =>
    ifFound(context, 'cards.search', async () => {
      const { web, session, params, query } = context
      const reader = readerOf(context, params['workspace']!)
      const search = cardSearchOf(query)
      const cursor = query.get('cursor') ?? undefined
      const asked = { ...searchQuery(search, web.clock()), limit: String(SHOWN_CARDS), cursor }
      const { data, nextCursor } = await reader.read('cards.search', {}, asked)
      const [boards, people, workspace] = await Promise.all([
        readBoards(reader, data as ListedCard[]),
        readPeople(reader),
        workspaceOf(web, session.user_id, reader.workspaceId),
      ])
      // A board that the person lost since the search takes its cards with it.
      const cards = (data as ListedCard[]).filter(({ board_id }) => boards.has(board_id))
      const found = { cards, boards, people, next: nextCursor ?? undefined, isContinued: cursor !== undefined }
      const body = renderSearch(search, found, workspace?.name ?? '', `/app/${reader.workspaceId}`, web.clock())
      return { title: cardViews[search.view], body, scripts: BOARD_SCRIPTS }
    }),
}

/** The boards of cards with their columns, as far as the person may still read them. */
async function readBoards(reader: Reader, cards: readonly ListedCard[]): Promise<Map<string, BoardSnapshot>> {
  const ids = [...new Set(cards.map(({ board_id }) => board_id))]
  const boards = ids.map(async (board_id) => {
    try {
      return [(await reader.read('boards.read', { board_id }, { include: 'columns' })).data as BoardSnapshot]
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return []
      throw error
    }
  })
  return new Map((await Promise.all(boards)).flat().map((board) => [board.id, board]))
}
