/** A text with links to cards: texts, and the ids of the linked cards in the file. */
export type LinkedText = readonly (string | { readonly card: string })[]

/** A text that links to cards, as a member of the body of an operation. */
export interface Linked {
  readonly operation: string
  readonly card_id: string
  readonly member: string
  readonly text: LinkedText
  /** the rest of the body */
  readonly rest?: object
}

/** Finds the links to cards of a file in texts. */
export class CardLinks {
  readonly #pattern: RegExp | undefined
  readonly #cards: ReadonlyMap<string, string>

  /**
   * @param address the source of a pattern of the address of a card, whose only group is its key
   * @param cards the ids of the cards by key
   */
  constructor(address: string | undefined, cards: ReadonlyMap<string, string>) {
    this.#cards = cards
    // A link of Markdown, an address in angle brackets, or an address alone. The repetitions are bounded: no text takes long.
    const label = String.raw`\[((?:\\.|[^\\\]\n]){0,500})\]`
    const title = String.raw`(?:\s{1,9}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?`
    // The address of any other link, or of the definition of one, stays: without it there is no link.
    const free = String.raw`(?<!\](?:\(|:)\s{0,9}<?)`
    this.#pattern =
      address === undefined
        ? undefined
        : new RegExp(`${label}\\(\\s{0,9}<?${address}>?${title}\\s{0,9}\\)|${free}(?:<${address}>|${address})`, 'g')
  }

  /** The parts of a text; undefined if no card of the file is linked in it. A link that has a text of its own keeps it before the card. */
  split(text: string): LinkedText | undefined {
    if (this.#pattern === undefined) return undefined
    const parts: (string | { readonly card: string })[] = []
    let end = 0
    for (const match of text.matchAll(this.#pattern)) {
      const [whole, label, ...keys] = match
      const card = this.#cards.get(keys.find((key) => key !== undefined) ?? '')
      if (card === undefined) continue
      const isNamed = label !== undefined && label.trim() !== '' && !/^<?https?:/.test(label)
      parts.push(text.slice(end, match.index), ...(isNamed ? [`${label} (`, { card }, ')'] : [{ card }]))
      end = match.index + whole.length
    }
    return end === 0 ? undefined : [...parts, text.slice(end)].filter((part) => part !== '')
  }
}
