import type { Value } from '../port.ts'

/** The length of ids and times. */
const LENGTH = 24
/** How many texts are remembered at a time: about 100 bytes each. */
const REMEMBERED = 20_000

/**
 * Makes records share equal texts while they are read: the ids of their board and its creator, and their times. JSON.parse makes a new text
 * for each occurrence, which takes a quarter of the memory of a card.
 */
export class InternedTexts {
  readonly #texts = new Map<string, string>()

  /** @returns an equal text that others share */
  intern(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    if (this.#texts.size >= REMEMBERED) this.#texts.clear()
    this.#texts.set(text, text)
    return text
  }

  /** Replaces ids and times of a record, which is not frozen yet, by texts that others share. */
  internIn(value: Value): Value {
    const members = value as Record<string, unknown>
    for (const name in members) {
      const text = members[name]
      // No other record has the same id.
      if (typeof text === 'string' && text.length === LENGTH && name !== 'id') members[name] = this.intern(text)
    }
    return value
  }
}
