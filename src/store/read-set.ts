import { lastWord } from './indexes.ts'
import type { ExpectedRecord, Expectation, Stored, Template } from './port.ts'
import { nameOf, type Part, type RangeRequest, type Read } from './reads.ts'
import { resolveTemplate } from './templates.ts'

/** The members of the record that a read relies on; undefined: on the whole record. */
export function reliedOn(read: Read): readonly string[] | undefined {
  return (read as Partial<Part<unknown>>).members
}

/** Entries of an index that were read. */
export interface ReadPage {
  readonly entries: readonly string[]
  /** the key prefix of their records (see {@link Index}); undefined: the records were not read */
  readonly fetch: string | undefined
  readonly records: readonly (Stored | null)[]
  readonly weak: boolean
  readonly isCut: boolean
}

/** The keys of the records of a page. */
export function keysOf({ entries, fetch }: ReadPage): string[] {
  return fetch === undefined ? [] : entries.map((entry) => fetch + lastWord(entry))
}

const NO_INDEXES: ReadonlyMap<string, string | null> = new Map()
/** Expects no capacity, as each read. */
export const NO_CAPACITY: ReadonlyMap<string, number> = new Map()

/** What a transaction has read so far, and what it relies on. */
export class ReadSet {
  readonly #records = new Map<string, Stored | null>()
  readonly #expected = new Map<string, ExpectedRecord>()
  #indexes: Map<string, string | null> | undefined
  #capacity: Map<string, number> | undefined
  /** Pages whose records are not in the maps yet. A list reads its page last, so they are never needed there. */
  // Stryker disable next-line ArrayDeclaration: a text in it is a page without entries
  readonly #pages: ReadPage[] = []

  /** every record that was read, including weak reads */
  get records(): ReadonlyMap<string, Stored | null> {
    this.#addPages()
    return this.#records
  }

  /** A record that was read; null: it is absent. */
  get(key: string): Stored | null | undefined {
    const known = this.#records.get(key)
    // Only what is not known yet can be in a page: an absent record is null.
    // Stryker disable next-line ConditionalExpression: the map has the same with all pages, which takes longer
    return known === undefined ? this.records.get(key) : known
  }

  /** what must still be true at the next read, and with the capacities at the commit */
  get expectation(): Expectation {
    this.#addPages()
    return { records: this.#expected, indexes: this.#indexes ?? NO_INDEXES, capacity: this.#capacity ?? NO_CAPACITY }
  }

  reliesOn(key: string): boolean {
    this.#addPages()
    return this.#expected.has(key)
  }

  /** Remembers a record, and relies on it or on some of its members in addition to earlier ones. */
  add(key: string, stored: Stored | null, members?: readonly string[]): void {
    const known = this.#expected.get(key)
    this.#records.set(key, stored)
    if (known === undefined) this.#expected.set(key, expect(stored, members))
    else if (isPartly(known)) this.#expected.set(key, expect(stored, members && [...new Set([...Object.keys(known.members), ...members])]))
    // Else the read has checked that the whole record is unchanged.
  }

  /** Remembers the records of a page, and relies on them as wholes unless it is weak. */
  addPage(page: ReadPage): void {
    this.#pages.push(page)
  }

  /** Remembers a record without relying on it. */
  addWeak(key: string, stored: Stored | null): void {
    if (!this.#expected.has(key)) this.#records.set(key, stored)
  }

  /** Forgets a record that nothing relies on. */
  forgetWeak(key: string): void {
    this.#addPages()
    if (!this.#expected.has(key)) this.#records.delete(key)
  }

  addIndex(name: string, revision: string | null): void {
    ;(this.#indexes ??= new Map()).set(name, revision)
  }

  addCapacity(name: string, limit: number): void {
    ;(this.#capacity ??= new Map()).set(name, limit)
  }

  /** Relies on a record that was read, as a whole. */
  relyOnWhole(key: string): void {
    this.#addPages()
    this.#expected.set(key, this.#records.get(key)?.revision ?? null)
  }

  /**
   * The keys of records that were all read before, so that no further read is needed. From now on it relies on these
   * members of them.
   * @param templates of these reads
   * @returns a null in place of a key that a template does not have; undefined if a record was not read
   */
  resolve(templates: readonly Template[], reads: readonly Read[]): (string | null)[] | undefined {
    // Stryker disable next-line ConditionalExpression,EqualityOperator: what follows finds nothing either, and takes longer
    if (this.#expected.size === 0 && templates.length > 0 && this.#pages.length === 0) return undefined
    const found: (string | null)[] = []
    const partly: string[] = []
    // A null, in place of a key, has no record.
    const valueAt = (index: number) => this.get(found[index]!)?.value
    for (let i = 0; i < templates.length; i++) {
      const key = resolveTemplate(templates[i]!, valueAt)
      const expected = key === null ? null : this.#expected.get(key)
      if (expected === undefined) return undefined
      found.push(key)
      if (key !== null && isPartly(expected) && !reliedOn(reads[i]!)?.every((member) => Object.hasOwn(expected.members, member)))
        partly.push(key)
    }
    for (const key of partly) this.relyOnWhole(key)
    return found
  }

  #addPages(): void {
    // Stryker disable next-line ConditionalExpression: without pages the rest does nothing, and this saves it
    if (this.#pages.length === 0) return
    for (const page of this.#pages.splice(0))
      for (const [i, key] of keysOf(page).entries())
        if (page.weak) this.addWeak(key, page.records[i] ?? null)
        else this.add(key, page.records[i] ?? null)
  }
}

/** What a transaction has prefetched other than records. */
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
    // Stryker disable next-line ConditionalExpression: without pages none is found below either, and this saves to make their names
    if (ranges.length > 0 && this.#pages.size === 0) return undefined
    const pages = ranges.map((range) => this.#pages.get(nameOf(range)))
    return pages.every((page) => page !== undefined) ? pages : undefined
  }

  /** @returns undefined unless all of them were prefetched */
  countsOf(indexes: readonly string[]): number[] | undefined {
    return indexes.every((index) => this.#counts.has(index)) ? indexes.map((index) => this.#counts.get(index)!) : undefined
  }
}

function expect(stored: Stored | null, members: readonly string[] | undefined): ExpectedRecord {
  if (stored === null) return null
  if (members === undefined) return stored.revision
  const texts: Record<string, string> = {}
  for (const member of members) texts[member] = stored.value[member] as string
  return { revision: stored.revision, members: texts }
}

function isPartly(expected: ExpectedRecord): expected is Exclude<ExpectedRecord, string | null> {
  return expected !== null && typeof expected !== 'string'
}
