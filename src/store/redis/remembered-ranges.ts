import { LRUCache } from 'lru-cache'
import type { IndexRange, Snapshot } from '../port.ts'
import type { RememberedRange } from './plain-reads.ts'

/** How many entries are remembered in all, and of one range. */
const [MAX_ENTRIES, MAX_ENTRIES_OF_RANGE] = [50_000, 200]

interface Remembered extends RememberedRange {
  /** whether two reads, one after the other, have found the same revision */
  readonly isStable: boolean
}

/**
 * Remembers the entries of ranges, so that Redis needs no script to find out which records to read. They are the same as long as
 * the revision of the index is: a read checks it.
 */
export class RememberedRanges {
  readonly #ranges = new LRUCache<string, Remembered>({
    maxSize: MAX_ENTRIES,
    sizeCalculation: ({ entries }) => entries.length + 1,
  })

  /** @returns what a range had; undefined if that is not known, or if the last read found another revision than the one before */
  get(partition: string, range: IndexRange): RememberedRange | undefined {
    const found = this.#ranges.get(nameOf(partition, range))
    return found?.isStable === true ? found : undefined
  }

  forget(partition: string, ranges: readonly IndexRange[]): void {
    for (const range of ranges) this.#ranges.delete(nameOf(partition, range))
  }

  /** Remembers the ranges that were read with their records. */
  learn(partition: string, ranges: readonly IndexRange[], snapshot: Snapshot): void {
    for (const [i, range] of ranges.entries()) {
      const { revision, entries, isCut } = snapshot.ranges[i]!
      if (range.fetch === undefined || isCut === true || entries.length > MAX_ENTRIES_OF_RANGE) continue
      const name = nameOf(partition, range)
      this.#ranges.set(name, { revision, entries, isStable: this.#ranges.peek(name)?.revision === revision })
    }
  }
}

function nameOf(partition: string, { index, after, before, reverse, limit, fetch }: IndexRange): string {
  return JSON.stringify([partition, index, after, before, reverse === true, limit, fetch])
}
