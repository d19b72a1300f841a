import type { IndexRange } from './port.ts'

/** An ordered set of texts in memory. Finding is by bisection. */
export class SortedIndex {
  #entries: string[] = []
  /** of the last change */
  revision: string | null = null

  get size(): number {
    return this.#entries.length
  }

  /** All entries in order. */
  all(): readonly string[] {
    return this.#entries
  }

  /** Entries in order, from `after` to `before`, or backwards. */
  range({ after, before, reverse, limit }: IndexRange): string[] {
    const from = after === undefined ? 0 : this.#firstNotBefore(after, true)
    const to = before === undefined ? this.#entries.length : this.#firstNotBefore(before, false)
    if (reverse) return this.#entries.slice(Math.max(from, to - limit), Math.max(from, to)).toReversed()
    return this.#entries.slice(from, Math.min(to, from + limit))
  }

  /** Adds and removes entries. What is there already, or not there, stays so. */
  change(add: readonly string[], remove: readonly string[], revision: string): void {
    for (const entry of remove) {
      const at = this.#firstNotBefore(entry, false)
      if (this.#entries[at] === entry) this.#entries.splice(at, 1)
    }
    // The usual case when many come at once, in their order: a new index.
    if (this.#entries.length === 0) this.#entries = [...new Set(add)].toSorted()
    else
      for (const entry of add) {
        const at = this.#firstNotBefore(entry, false)
        if (this.#entries[at] !== entry) this.#entries.splice(at, 0, entry)
      }
    this.revision = revision
  }

  #firstNotBefore(entry: string, past: boolean): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      const value = this.#entries[middle]!
      if (value < entry || (past && value === entry)) low = middle + 1
      else high = middle
    }
    return low
  }
}
