import type { Card } from '../../model/card.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import type { OperationRequest } from '../operation.ts'
import type { CardFilter } from './filter.ts'
import { searchedWords } from './words.ts'

/** The number of cards that are read at once, and the number of their characters if they are long. */
const MAX_CARDS = 32
const MAX_CHARACTERS = 64 * 1024
/** What the reading of a card or of an index costs, in characters. */
const READ_COST = 2000

/**
 * What to examine a character costs: to look for a further word in a text takes half as long as to fold it and to look for the first one.
 */
export function weightOf({ q }: Pick<CardFilter, 'q'>): number {
  return q === undefined ? 1 : (searchedWords(q).length + 1) / 2
}

/** Reads cards, few at a time, and keeps only the ones that match. */
export class Examination {
  readonly #tx: Transaction
  readonly #examine: OperationRequest['examine']
  readonly #matches: (card: Card) => boolean
  readonly #weight: number
  #cards = 0
  #characters = 0

  /** @param weight what to examine a character costs */
  constructor(tx: Transaction, examine: OperationRequest['examine'], matches: (card: Card) => boolean, weight = 1) {
    this.#tx = tx
    this.#examine = examine
    this.#matches = matches
    this.#weight = weight
  }

  /** The number of cards to read next. */
  get step(): number {
    const average = this.#characters / Math.max(this.#cards, 1)
    return Math.max(1, Math.min(MAX_CARDS, Math.floor(MAX_CHARACTERS / Math.max(average, 1))))
  }

  /** Waits until indexes may be read. */
  async beforeRead(indexes: number): Promise<void> {
    await this.#examine(READ_COST * indexes)
  }

  /** Returns the cards that match. The transaction forgets the others. */
  async matching(cards: readonly Card[]): Promise<Card[]> {
    const found: Card[] = []
    for (const card of cards) {
      const size = card.title.length + card.description.length
      this.#cards++
      this.#characters += size
      const pause = this.#examine(READ_COST + Math.ceil(size * this.#weight))
      if (pause !== undefined) await pause
      if (this.#matches(card)) found.push(card)
      else this.#tx.forget(keys.card(card.id))
    }
    return found
  }
}
