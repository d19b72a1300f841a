import { authorsOf } from './authors.ts'
import type { Editor } from './board-update.ts'
import type { ListedCard } from '../listed-card.ts'
import type { Page } from '../page-context.ts'
import { ifFound, readerOf, type Reader } from '../reader.ts'

/** How long one message is believed, in milliseconds: pages tell it every 15 seconds. */
const LIFETIME = 40_000
/** The texts that have editors on the page of a card. */
const PARTS: ReadonlySet<string> = new Set(['title', 'description'])

/**
 * What a page tells while its person edits the title or the description of a card, and when they have finished. The others on the board
 * learn it from their streams. It is no change: it is neither stored nor in the audit trail.
 */
export const editingPage: Page = {
  path: '/app/{workspace}/cards/{card}/editing',
  anonymous: false,
  isPart: true,
  post: (context) =>
    ifFound(context, 'cards.read', async () => {
      const { web, form, session, params } = context
      const reader = readerOf(context)
      const card = params['card']!
      const { board_id } = (await reader.read('cards.read', { card_id: card })).data as ListedCard
      const part = form.get('part') ?? ''
      // Who may not edit it does not.
      if (PARTS.has(part) && (await reader.allowed('card', card)).has('cards.update')) {
        const now = web.clock()
        web.presence.note(board_id, { card, part, userId: session.user_id, until: form.has('ended') ? now : now + LIFETIME }, now)
      }
      return { json: {}, audit: false }
    }),
}

/** The others who are editing something on a board, for one stream of it. */
export class OtherEditors {
  readonly #reader: Reader
  readonly #boardId: string
  #shown: string | undefined

  constructor(reader: Reader, boardId: string) {
    this.#reader = reader
    this.#boardId = boardId
  }

  /** @returns undefined: the same as before. Then nothing was read. */
  async next(): Promise<readonly Editor[] | undefined> {
    const { web, session } = this.#reader.context
    const others = web.presence.on(this.#boardId, web.clock()).filter(({ userId }) => userId !== session.user_id)
    const now = others.map(({ card, part, userId }) => `${card} ${part} ${userId}`).join()
    if (now === this.#shown) return undefined
    this.#shown = now
    if (others.length === 0) return []
    const cards = [...new Set(others.map(({ card }) => card))]
    const found = await Promise.all(cards.map((card_id) => this.#reader.find('cards.read', { card_id })))
    const names = await authorsOf(
      this.#reader,
      others.map(({ userId }) => ({ actor_id: userId, token_id: null, token_name: null })),
    )
    return others.flatMap(({ card, part }, i) => (found[cards.indexOf(card)] === undefined ? [] : [{ card, part, name: names[i]! }]))
  }
}
