import type { Board } from '../../model/board.ts'
import type { BoardSnapshot } from '../../resources/boards/schema.ts'
import { fold, searchedWords, wordFinder } from '../../resources/cards/words.ts'
import type { ListedCard } from '../listed-card.ts'
import type { Page } from '../page-context.ts'
import { readAll, workspacePage, type Reader } from '../reader.ts'
import { searchedText } from './filters.ts'
import type { Found } from './found.ts'
import { MAX_BOARD_PAGES } from './overview-page.ts'

/** Boards and cards that are offered at most. More words find others. */
const [BOARDS, CARDS] = [6, 20]
/** Cards that are offered before a person has typed: those that were changed last. */
const RECENT = 6

/**
 * What the search in everything finds, for its script: boards by their names, and cards as the search of cards does. Without words, what was
 * changed last. All of it is read as the person may read it now.
 */
export const findPage: Page = {
  ...workspacePage('find', 'cards.search', async (reader) => {
    const q = searchedText((reader.context.query.get('q') ?? '').trim())
    const [boards, cards] = await Promise.all([findBoards(reader, q), findCards(reader, q)])
    return { json: { found: [...boards, ...cards] }, audit: false }
  }),
  isPart: true,
}

async function findBoards(reader: Reader, q: string): Promise<readonly Found[]> {
  const finders = searchedWords(q).map(wordFinder)
  const { items } = await readAll<Board>(reader, ['boards.list'], MAX_BOARD_PAGES)
  return items
    .filter(({ name }) => finders.every((finds) => finds(fold(name))))
    .toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
    .slice(0, BOARDS)
    .map(({ id, name }) => ({ name, detail: 'Board', address: addressOf(reader, `boards/${id}`) }))
}

async function findCards(reader: Reader, q: string): Promise<readonly Found[]> {
  const asked = { sort: 'updated_at', limit: String(q === '' ? RECENT : CARDS), ...(q !== '' && { q }) }
  const cards = (await reader.read('cards.search', {}, asked)).data as readonly ListedCard[]
  const ids = [...new Set(cards.map(({ board_id }) => board_id))]
  const boards = await Promise.all(ids.map((board_id) => reader.find<BoardSnapshot>('boards.read', { board_id })))
  const names = new Map(boards.flatMap((board) => (board === undefined ? [] : [[board.id, board.name]])))
  return cards.flatMap(({ id, title, board_id, completed_at }): Found[] => {
    const name = names.get(board_id)
    // A board that the person has lost since the search takes its cards with it.
    if (name === undefined) return []
    const detail = completed_at === null ? name : `${name}, done`
    return [{ name: title, detail, address: addressOf(reader, `cards/${id}`), board: board_id }]
  })
}

function addressOf({ context, base }: Reader, path: string): string {
  return context.web.site.outerAddress(`${base}/${path}`)
}
