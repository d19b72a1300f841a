import { LRUCache } from 'lru-cache'

/** Who is editing a text of a card. */
interface Editing {
  readonly card: string
  /** `title` or `description` */
  readonly part: string
  readonly userId: string
  /** until when that is believed without another message, in milliseconds since 1970 */
  readonly until: number
}

const MOST_BOARDS = 1000
const MOST_OF_BOARD = 100

/** Who is editing what, in the memory of this process: nothing of it is stored, and it ends by itself. */
export class Presence {
  readonly #boards = new LRUCache<string, ReadonlyMap<string, Editing>>({ max: MOST_BOARDS })

  /** @param until not after now: it has ended */
  note(boardId: string, editing: Editing, now: number): void {
    const { card, part, userId, until } = editing
    const key = `${card} ${part} ${userId}`
    const others = [...(this.#boards.get(boardId) ?? [])].filter(([other, one]) => other !== key && one.until > now)
    const all = until > now ? [...others, [key, editing] as const] : others
    this.#boards.set(boardId, new Map(all.slice(-MOST_OF_BOARD)))
  }

  on(boardId: string, now: number): readonly Editing[] {
    return [...(this.#boards.get(boardId)?.values() ?? [])].filter(({ until }) => until > now)
  }
}
