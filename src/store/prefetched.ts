import type { ReadPage } from './read-set.ts'
import { nameOf, type RangeRequest } from './reads.ts'

/** What a transaction has prefetched, besides records. */
export class Prefetched {
  readonly #pages = new Map<string, ReadPage>()
  readonly #counts = new Map<string, number>()

  addPage(range: RangeRequest, page: ReadPage): void {
    this.#pages.set(nameOf(range), page)
  }

  addCount(index: string, count: number): void {
    this.#counts.set(index, count)
  }

  /** @returns undefined unless all of them were prefetched */
  pagesOf(ranges: readonly RangeRequest[]): ReadPage[] | undefined {
    if (ranges.length > 0 && this.#pages.size === 0) return undefined
    const pages = ranges.map((range) => this.#pages.get(nameOf(range)))
    return pages.every((page) => page !== undefined) ? pages : undefined
  }

  /** @returns undefined unless all of them were prefetched */
  countsOf(indexes: readonly string[]): number[] | undefined {
    return indexes.every((index) => this.#counts.has(index)) ? indexes.map((index) => this.#counts.get(index)!) : undefined
  }
}
