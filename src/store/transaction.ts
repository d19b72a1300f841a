import { randomText, type RandomSource } from '../model/ids.ts'
import { indexChanges } from './indexing.ts'
import type { Page, PageOf, RangeOptions, ValueOf, Wanted } from './reading.ts'
import { lastWord, type Index } from './indexes.ts'
import type { Key } from './keys.ts'
import type { Change, Expectation, IndexRange, Snapshot, Store, Stored, Value } from './port.ts'

/** What was relied on has changed: the unit of work must start again, with all that it decided. */
export class TransactionConflict extends Error {
  override readonly name = 'Conflict'
}

/**
 * A unit of work in one partition. It remembers all that it read, and each further read and the commit hold
 * only if that is still so: what was decided on cannot change before what was decided is done, and nobody has
 * to say what that was. Whatever is written must have been read.
 */
export class Transaction {
  readonly partition: string
  readonly #store: Store
  readonly #random: RandomSource
  readonly #seen = new Map<string, Stored | null>()
  readonly #records = new Map<string, string | null>()
  readonly #indexes = new Map<string, string | null>()
  readonly #capacity = new Map<string, number>()
  readonly #put = new Map<string, Value>()
  readonly #remove = new Set<string>()
  #committed: string | undefined

  constructor(store: Store, partition: string, random: RandomSource) {
    this.#store = store
    this.partition = partition
    this.#random = random
  }

  /** Reads one record. */
  async get<T>(key: Key<T>): Promise<T | undefined> {
    const [value] = await this.read([key])
    return value as T | undefined
  }

  /** Reads records that belong together, in one snapshot. A key may be a template over those before it. */
  async read<const Keys extends readonly Key<unknown>[]>(records: Keys): Promise<{ [K in keyof Keys]: ValueOf<Keys[K]> }> {
    return (await this.load({ records })).records
  }

  /** Reads a part of an index, with the records of its entries. */
  async range<T>(index: Index<T>, options: RangeOptions): Promise<Page<T>> {
    return (await this.load({ ranges: [{ index, options }] })).ranges[0] as Page<T>
  }

  /**
   * Reads records and parts of indexes, all in one snapshot with everything read before.
   * @throws {TransactionConflict} where something read before has changed since
   */
  async load<
    const Keys extends readonly Key<unknown>[] = [],
    const Ranges extends readonly { index: Index<unknown>; options: RangeOptions }[] = [],
  >(
    wanted: Wanted<Keys, Ranges>,
  ): Promise<{ records: { [K in keyof Keys]: ValueOf<Keys[K]> }; ranges: { [R in keyof Ranges]: PageOf<Ranges[R]> } }> {
    const records: readonly string[] = wanted.records ?? []
    const ranges = wanted.ranges ?? []
    if (ranges.length === 0 && records.every((key) => this.#records.has(key))) {
      return { records: records.map((key) => this.#value(key)), ranges: [] } as never
    }
    const snapshot = await this.#snapshot(
      records,
      ranges.map(({ index, options }) => toRange(index, options)),
      [],
    )
    const values = snapshot.records.map(({ key, stored }) => (key === null ? undefined : this.#remember(key, stored)))
    const pages = snapshot.ranges.map(({ entries, records: found, revision }, i) => {
      const { index, options } = ranges[i]!
      if (options.weak !== true) this.#indexes.set(index.name, revision)
      const page: { entries: string[]; values: unknown[] } = { entries: [], values: [] }
      for (const [j, entry] of entries.entries()) {
        page.entries.push(entry)
        page.values.push(
          this.#remember(index.fetch + lastWord(entry), found[j] ?? null, options.weak !== undefined && options.weak !== false),
        )
      }
      return page
    })
    return { records: values, ranges: pages } as never
  }

  /**
   * Makes sure that records that were read as hints are still what they were, all at one moment.
   * @throws {TransactionConflict} where one is not
   */
  async confirm(records: readonly Key<unknown>[]): Promise<void> {
    const before = records.map((key) => this.#seen.get(key)?.revision)
    await this.load({ records })
    if (records.some((key, i) => this.#seen.get(key)?.revision !== before[i])) throw new TransactionConflict()
  }

  /**
   * How many entries an index has. Where the answer is at most `atMost`, it is relied on that this stays so
   * until the commit.
   */
  async count(index: Index<unknown>, atMost: number): Promise<number> {
    const [entries] = await this.counts([index])
    if (entries! <= atMost) this.#capacity.set(index.name, atMost)
    return entries!
  }

  /** How many entries indexes have, all at one moment. Nothing is relied on. */
  async counts(of: readonly Index<unknown>[]): Promise<number[]> {
    return [
      ...(
        await this.#snapshot(
          [],
          [],
          of.map(({ name }) => name),
        )
      ).counts,
    ]
  }

  /** Writes a record that was read (or found absent) before. */
  put<T>(key: Key<T>, value: T): void {
    this.#assertRead(key)
    this.#remove.delete(key)
    this.#put.set(key, value as Value)
  }

  /** Writes a record that is new. Its key is made of a new id, so nothing can be there. */
  async create<T>(key: Key<T>, value: T): Promise<void> {
    await this.get(key)
    this.put(key, value)
  }

  /** Removes a record that was read before. */
  remove(key: Key<unknown>): void {
    this.#assertRead(key)
    this.#put.delete(key)
    this.#remove.add(key)
  }

  /** The revision of a record: as it was read, and after the commit as it was written. */
  revisionOf(key: Key<unknown>): string | undefined {
    if (this.#committed !== undefined && this.#put.has(key)) return this.#committed
    if (this.#committed !== undefined && this.#remove.has(key)) return undefined
    return this.#seen.get(key)?.revision
  }

  /**
   * Does all that was put and removed, or nothing.
   * @throws {TransactionConflict} where something read has changed since
   */
  async commit(): Promise<void> {
    if (this.#put.size === 0 && this.#remove.size === 0) return
    const revision = randomText(this.#random, 20)
    const change: Change = {
      revision,
      expect: this.#expect(),
      put: this.#put,
      remove: this.#remove,
      indexes: indexChanges(this.#seen, this.#put, this.#remove),
    }
    if ((await this.#store.commit(this.partition, change)) === 'conflict') throw new TransactionConflict()
    this.#committed = revision
  }

  #value(key: string): unknown {
    if (this.#remove.has(key)) return undefined
    return this.#put.get(key) ?? this.#seen.get(key)?.value
  }

  #remember(key: string, stored: Stored | null, hint = false): unknown {
    if (!hint || !this.#records.has(key)) this.#seen.set(key, stored)
    if (!hint) this.#records.set(key, stored?.revision ?? null)
    return this.#value(key)
  }

  #assertRead(key: string): void {
    if (!this.#records.has(key)) throw new TypeError(`store: "${key}" is written without having been read`)
  }

  #expect(): Expectation {
    return { records: this.#records, indexes: this.#indexes, capacity: this.#capacity }
  }

  async #snapshot(records: readonly string[], ranges: readonly IndexRange[], counts: readonly string[]): Promise<Snapshot> {
    const expect = { records: this.#records, indexes: this.#indexes, capacity: new Map() }
    const snapshot = await this.#store.read(this.partition, { records, ranges, counts, expect })
    if (snapshot === null) throw new TransactionConflict()
    return snapshot
  }
}

function toRange(index: Index<unknown>, { after, before, reverse, limit }: RangeOptions): IndexRange {
  return { index: index.name, after, before, reverse: reverse ?? false, limit, fetch: index.fetch }
}
