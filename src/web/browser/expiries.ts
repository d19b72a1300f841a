/** What the passing time changes on a page, without an entry in the change feed: a claim expires, or a card may be tried again. */
export class Expiries {
  readonly #root: HTMLElement
  readonly #onExpiry: () => void
  /** How far the clock of the service is ahead of this one, in milliseconds. */
  #offset = 0
  #timer: number | undefined

  /** @param root of the page */
  constructor(root: HTMLElement, onExpiry: () => void) {
    this.#root = root
    this.#onExpiry = onExpiry
  }

  /**
   * Waits for the next expiry.
   * @param now the time of the service, in milliseconds since 1970
   */
  schedule(now: number): void {
    this.#offset = now - Date.now()
    clearTimeout(this.#timer)
    const next = Math.min(...this.#timesOf('').values())
    if (next !== Infinity) this.#timer = setTimeout(this.#onExpiry, Math.max(next - now, 0) + 500)
  }

  /**
   * What cards wait for has come before its time.
   * @returns whether the page shows one of them
   */
  end(cards: readonly string[]): boolean {
    const elements = this.#elements('').filter(({ id, dataset }) => cards.includes(dataset['card'] ?? id))
    for (const { dataset } of elements) dataset['until'] = new Date(0).toISOString()
    return elements.length > 0
  }

  /**
   * @param selector of elements; empty: all, also the page itself
   * @returns the ids of those whose time has passed
   */
  expired(selector = ''): string[] {
    return [...this.#timesOf(selector)].flatMap(([id, until]) => (until <= Date.now() + this.#offset ? [id] : []))
  }

  /** The elements that the passing time changes: id → when. */
  #timesOf(selector: string): ReadonlyMap<string, number> {
    return new Map(this.#elements(selector).map(({ id, dataset }) => [id, Date.parse(dataset['until']!)]))
  }

  #elements(selector: string): readonly HTMLElement[] {
    const inside = Array.from(this.#root.querySelectorAll<HTMLElement>(`${selector}[data-until]`))
    return this.#root.matches(`${selector}[data-until]`) ? [this.#root, ...inside] : inside
  }
}
