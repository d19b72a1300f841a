import type { Card } from '../../model/card.ts'
import { limits } from '../../model/limits.ts'

/** The first cards of an order, as many as a page can have, of all that are offered. */
export class Selection {
  readonly #limit: number
  readonly #placeOf: (card: Card) => string
  readonly #follows: (place: string, other: string) => boolean
  /** in their order */
  readonly #chosen: { readonly place: string; readonly card: Card }[] = []
  readonly #ids = new Set<string>()
  #characters = 0
  #hasDropped = false

  /**
   * @param limit the maximum number of cards
   * @param placeOf the place of a card in the order: they compare as texts
   */
  constructor(limit: number, placeOf: (card: Card) => string, isDescending: boolean) {
    this.#limit = limit
    this.#placeOf = placeOf
    this.#follows = isDescending ? (place, other) => place < other : (place, other) => place > other
  }

  get cards(): readonly { readonly place: string; readonly card: Card }[] {
    return this.#chosen
  }

  /** Whether further cards may match that are not chosen. */
  get mayHaveMore(): boolean {
    return this.#isFull
  }

  /** The place that a further card must precede; undefined: there is room for any. */
  get bound(): string | undefined {
    return this.#isFull ? this.#chosen.at(-1)!.place : undefined
  }

  /** Whether a card precedes the bound, or is chosen. */
  accepts(card: Card): boolean {
    const { bound } = this
    return bound === undefined || this.#ids.has(card.id) || this.#follows(bound, this.#placeOf(card))
  }

  /**
   * Adds a card, or replaces an earlier version of it.
   * @returns the cards that it leaves no room for
   */
  add(card: Card): Card[] {
    if (this.#ids.has(card.id)) this.#remove(this.#chosen.findIndex((chosen) => chosen.card.id === card.id))
    const place = this.#placeOf(card)
    const at = this.#chosen.findIndex((chosen) => this.#follows(chosen.place, place))
    this.#chosen.splice(at === -1 ? this.#chosen.length : at, 0, { place, card })
    this.#ids.add(card.id)
    this.#characters += card.description.length
    const dropped: Card[] = []
    while (this.#chosen.length > this.#limit || this.#isLong) {
      this.#hasDropped = true
      dropped.push(this.#remove(this.#chosen.length - 1))
    }
    return dropped
  }

  get #isFull(): boolean {
    return this.#hasDropped || this.#chosen.length >= this.#limit
  }

  /** A page ends before its last card: by its length. */
  get #isLong(): boolean {
    return this.#chosen.length > 2 && this.#characters - this.#chosen.at(-1)!.card.description.length > limits.pageBytes
  }

  #remove(at: number): Card {
    const { card } = this.#chosen[at]!
    this.#chosen.splice(at, 1)
    this.#ids.delete(card.id)
    this.#characters -= card.description.length
    return card
  }
}
