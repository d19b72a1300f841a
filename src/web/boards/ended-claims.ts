import type { Change } from '../../model/change.ts'
import { currentClaims, readClaimedCards } from '../../resources/claims/present.ts'
import type { Reader } from '../reader.ts'

/**
 * The claims of a board that end with their tokens. No record of the board changes then, so its feed has nothing of them. Those that run out
 * are not among them: a page knows when they do.
 */
export class EndedClaims {
  readonly #reader: Reader
  readonly #boardId: string
  /** claimed cards, and when their claims run out */
  #known: ReadonlyMap<string, string> = new Map()

  constructor(reader: Reader, boardId: string) {
    this.#reader = reader
    this.#boardId = boardId
  }

  /**
   * @param changes of the board, which say themselves what has become of their claims
   * @returns the cards whose claims have ended so since the last call
   */
  async next(changes: readonly Pick<Change, 'id'>[]): Promise<readonly string[]> {
    const { clock } = this.#reader.context.web
    const { cards } = await this.#reader.transact((tx) => readClaimedCards({ tx, clock }, currentClaims(this.#boardId, clock)))
    const changed = new Set(changes.map(({ id }) => id))
    const now = clock()
    const ended = [...this.#known].flatMap(([id, until]) => (cards.has(id) || changed.has(id) || Date.parse(until) <= now ? [] : [id]))
    this.#known = cards
    return ended
  }
}
