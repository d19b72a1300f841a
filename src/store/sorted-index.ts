import { lastWord } from './indexes.ts'
import type { IndexRange } from './port.ts'

/** From this length on, it takes long to make a place in the midst of an index. */
const LONG = 8192
/** The part of a long index that may wait for its place. */
const WAITING = 1 / 16
/** As many entries are put in their places one by one; of more, the whole index is sorted. */
const FEW = 8

/** An ordered set of texts in memory. Lookups use binary search. */
export class SortedIndex {
  #entries: string[] = []
  /**
   * Entries of a long index that are not in their place yet, until it is read. Some are hardly ever read, such as the first responses of
   * an hour: with 30,000 of them, each place took 10 µs of a request.
   */
  #waiting: Set<string> | undefined
  /** the keys of their records that were asked for, in the same places, and the prefix of those keys */
  #keys: (string | undefined)[] | undefined
  #fetch: string | undefined
  /** the revision of the last change */
  revision: string | null = null
  readonly #long: number

  /** @param long the length at which entries begin to wait for their places; the tests use a short one */
  constructor(long = LONG) {
    this.#long = long
  }

  get size(): number {
    return this.#entries.length + (this.#waiting?.size ?? 0)
  }

  /** The last entry. */
  get last(): string | undefined {
    this.#settle()
    return this.#entries.at(-1)
  }

  /** All entries in order. */
  all(): readonly string[] {
    this.#settle()
    return this.#entries
  }

  /** The entries of a range (see {@link IndexRange}). */
  range(range: IndexRange): string[] {
    const [start, end] = this.#placesOf(range)
    const entries = this.#entries.slice(start, end)
    return range.reverse ? entries.toReversed() : entries
  }

  /**
   * The keys of the records of a range, in the order of its entries. They are kept: to make and hash the keys of a list took an eighth of
   * the CPU time of its request.
   */
  keysOf(range: IndexRange, fetch: string): string[] {
    const [start, end] = this.#placesOf(range)
    if (this.#keys === undefined || this.#fetch !== fetch) {
      this.#keys = this.#entries.map(() => undefined)
      this.#fetch = fetch
    }
    const keys: string[] = []
    for (let i = start; i < end; i++) keys.push((this.#keys[i] ??= fetch + lastWord(this.#entries[i]!)))
    return range.reverse ? keys.toReversed() : keys
  }

  /** Adds and removes entries. Adding an existing entry and removing an absent one have no effect. */
  change(add: readonly string[], remove: readonly string[], revision: string): void {
    for (const entry of remove) {
      if (this.#waiting?.delete(entry)) continue
      const position = this.#lowerBound(entry)
      if (this.#entries[position] !== entry) continue
      this.#entries.splice(position, 1)
      this.#keys?.splice(position, 1)
    }
    // Fills a new index in one step: a partition that is loaded adds all of its entries in one change.
    if (this.size === 0) {
      this.#entries = sortedOnce(add)
      this.#keys = undefined
    } else for (const entry of add) this.#add(entry)
    this.revision = revision
  }

  #add(entry: string): void {
    if (this.#waiting?.has(entry)) return
    // Changes, and what is ordered by time or added at the end of a list, come last.
    if (this.#entries.at(-1)! < entry) {
      this.#entries.push(entry)
      this.#keys?.push(undefined)
      return
    }
    const position = this.#lowerBound(entry)
    if (this.#entries[position] === entry) return
    if (this.#entries.length < this.#long) return this.#insert(position, entry)
    this.#waiting ??= new Set()
    this.#waiting.add(entry)
    if (this.#waiting.size > this.#entries.length * WAITING) this.#settle()
  }

  #insert(position: number, entry: string): void {
    this.#entries.splice(position, 0, entry)
    this.#keys?.splice(position, 0, undefined)
  }

  /** Puts the entries that wait in their places. */
  #settle(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    this.#waiting = undefined
    if (waiting.size > FEW) {
      // Two sorted lists are merged in leaps.
      this.#entries = this.#entries.concat([...waiting].toSorted()).toSorted()
      this.#keys = undefined
      return
    }
    for (const entry of waiting) this.#insert(this.#lowerBound(entry), entry)
  }

  /** The first place of a range, and the one after its last. */
  #placesOf({ after, before, reverse, limit }: IndexRange): readonly [start: number, end: number] {
    this.#settle()
    const start = after === undefined ? 0 : this.#upperBound(after)
    const end = Math.max(start, before === undefined ? this.#entries.length : this.#lowerBound(before))
    return reverse ? [Math.max(start, end - limit), end] : [start, Math.min(end, start + limit)]
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

/** The texts in order, each once. Most lists are in order already, and few have a text twice. */
function sortedOnce(texts: readonly string[]): string[] {
  const isAfter = (text: string, i: number, all: readonly string[]) => i === 0 || all[i - 1]! < text
  const sorted = texts.every(isAfter) ? [...texts] : texts.toSorted()
  return sorted.every(isAfter) ? sorted : sorted.filter(isAfter)
}

/** The position of the first text in a sorted list that `isBefore` is false for. */
function partitionPoint(sorted: readonly string[], isBefore: (text: string) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
