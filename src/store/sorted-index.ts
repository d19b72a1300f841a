import type { IndexRange } from './port.ts'

/** An ordered set of texts in memory. Lookups use binary search. */
export class SortedIndex {
  #entries: string[] = []
  /** the revision of the last change */
  revision: string | null = null

  get size(): number {
    return this.#entries.length
  }

  /** The last entry. */
  get last(): string | undefined {
    return this.#entries.at(-1)
  }

  /** All entries in order. */
  all(): readonly string[] {
    return this.#entries
  }

  /** The entries of a range (see {@link IndexRange}). */
  range({ after, before, reverse, limit }: IndexRange): string[] {
    const start = after === undefined ? 0 : this.#upperBound(after)
    const end = before === undefined ? this.#entries.length : this.#lowerBound(before)
    if (reverse) return this.#entries.slice(Math.max(start, end - limit), Math.max(start, end)).toReversed()
    return this.#entries.slice(start, Math.min(end, start + limit))
  }

  /** Adds and removes entries. Adding an existing entry and removing an absent one have no effect. */
  change(add: readonly string[], remove: readonly string[], revision: string): void {
    for (const entry of remove) {
      const position = this.#lowerBound(entry)
      if (this.#entries[position] === entry) this.#entries.splice(position, 1)
    }
    // Fills a new index in one step: a checkpoint adds all of its entries in one change.
    if (this.#entries.length === 0) this.#entries = [...new Set(add)].toSorted()
    else
      for (const entry of add) {
        // Changes, and what is ordered by time or added at the end of a list, come last.
        if (this.#entries.length > 0 && this.#entries.at(-1)! < entry) {
          this.#entries.push(entry)
          continue
        }
        const position = this.#lowerBound(entry)
        if (this.#entries[position] !== entry) this.#entries.splice(position, 0, entry)
      }
    this.revision = revision
  }

  /** The position of the first entry that is not less than `bound`. */
  #lowerBound(bound: string): number {
    return partitionPoint(this.#entries, (entry) => entry < bound)
  }

  /** The position of the first entry that is greater than `bound`. */
  #upperBound(bound: string): number {
    return partitionPoint(this.#entries, (entry) => entry <= bound)
  }
}

/** The position of the first text of a sorted list, from a position on, for which `isBefore` is false. */
export function partitionPoint(sorted: readonly string[], isBefore: (text: string) => boolean, from = 0): number {
  let [low, high] = [from, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
