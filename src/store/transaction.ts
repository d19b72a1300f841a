import { randomText, type RandomSource } from '../model/ids.ts'
import { indexChanges } from './indexing.ts'
import { lastWord, type Index } from './indexes.ts'
import type { Key } from './keys.ts'
import type { Change, IndexRange, Snapshot, Store, Stored, Value } from './port.ts'

/** Entries per page of {@link Transaction.all}. */
const PAGE_SIZE = 1000
/** Length of a revision, in characters. */
const REVISION_LENGTH = 20

/** Which range of an index to read. */
export interface RangeOptions {
  /** exclusive bounds; they do not have to be entries */
  readonly after?: string | undefined
  readonly before?: string | undefined
  /** descending order; `limit` then counts from the upper bound */
  readonly reverse?: boolean
  /** maximum number of entries */
  readonly limit: number
  /**
   * A weak read may be stale by the next read or the commit. All other reads are validated then.
   * `true`: neither the entries nor their records are validated. `'records'`: the entries are validated, their
   * records are not.
   */
  readonly weak?: boolean | 'records'
}

/** Entries of an index with their records. */
export interface IndexPage<T> {
  readonly entries: readonly string[]
  /** undefined for an entry without a record: its parent was deleted, and garbage collection has not removed the entry yet */
  readonly values: readonly (T | undefined)[]
}

/** What to read in one snapshot. */
export interface LoadRequest<Keys extends readonly Key<unknown>[], Ranges extends readonly RangeRequest[]> {
  readonly records?: Keys
  readonly ranges?: Ranges
}
interface RangeRequest {
  readonly index: Index<unknown>
  readonly options: RangeOptions
}
/** The record type of a key. */
export type ValueOf<K> = K extends Key<infer T> ? T | undefined : never
/** The page type of a range. */
export type PageOf<R> = R extends { index: Index<infer T> } ? IndexPage<T> : never

/** A record or index that the transaction read has changed since. The transaction must run again from its beginning. */
export class TransactionConflict extends Error {
  override readonly name = 'TransactionConflict'
}

/**
 * A transaction in one partition, with optimistic concurrency control. It remembers everything that it reads, and
 * each further read and the commit succeed only if none of it has changed. Its decisions are thus still valid at the
 * commit, without the caller stating what they depend on. A record must be read before it is written.
 */
export class Transaction {
  readonly partition: string
  readonly #store: Store
  readonly #random: RandomSource
  readonly #turn: string | undefined
  /** every record that was read, including weak reads */
  readonly #readRecords = new Map<string, Stored | null>()
  /** the expectation: see `Expectation` in port.ts */
  readonly #expectedRecords = new Map<string, string | null>()
  readonly #expectedIndexes = new Map<string, string | null>()
  readonly #expectedCapacity = new Map<string, number>()
  readonly #put = new Map<string, Value>()
  readonly #remove = new Set<string>()
  /** the revision of the commit, once it is done */
  #committed: string | undefined

  /** @param turn the id of the turn in which it commits */
  constructor(store: Store, partition: string, random: RandomSource, turn?: string) {
    this.#store = store
    this.partition = partition
    this.#random = random
    this.#turn = turn
  }

  /**
   * Reads one record.
   * @throws {TransactionConflict} when something read before has changed since; this applies to every read
   */
  async get<T>(key: Key<T>): Promise<T | undefined> {
    const [value] = await this.read([key])
    return value as T | undefined
  }

  /** Reads several records in one snapshot. A key may be a template that refers to the keys before it. */
  async read<const Keys extends readonly Key<unknown>[]>(records: Keys): Promise<{ [K in keyof Keys]: ValueOf<Keys[K]> }> {
    return (await this.load({ records })).records
  }

  /** Reads a range of an index, with the records of its entries. */
  async range<T>(index: Index<T>, options: RangeOptions): Promise<IndexPage<T>> {
    return (await this.load({ ranges: [{ index, options }] })).ranges[0] as IndexPage<T>
  }

  /**
   * Reads a whole index page by page, with the records of its entries. There is no maximum size. It has the same
   * expectations as {@link Transaction.range}. With `weak: true`, the pages may come from different states.
   * @throws {TransactionConflict} when something read before, including an earlier page, has changed since
   */
  async all<T>(index: Index<T>, { weak = false }: Pick<RangeOptions, 'weak'> = {}): Promise<IndexPage<T>> {
    const entries: string[] = []
    const values: (T | undefined)[] = []
    for (let after: string | undefined; ; after = entries.at(-1)) {
      const page = await this.range(index, { after, limit: PAGE_SIZE, weak })
      entries.push(...page.entries)
      values.push(...page.values)
      if (page.entries.length < PAGE_SIZE) return { entries, values }
    }
  }

  /**
   * Reads records and ranges of indexes in one snapshot, which is consistent with everything read before.
   * @throws {TransactionConflict} when something read before has changed since
   */
  async load<const Keys extends readonly Key<unknown>[] = [], const Ranges extends readonly RangeRequest[] = []>(
    request: LoadRequest<Keys, Ranges>,
  ): Promise<{ records: { [K in keyof Keys]: ValueOf<Keys[K]> }; ranges: { [R in keyof Ranges]: PageOf<Ranges[R]> } }> {
    const records: readonly string[] = request.records ?? []
    const ranges = request.ranges ?? []
    if (ranges.length === 0 && records.every((key) => this.#expectedRecords.has(key))) {
      return { records: records.map((key) => this.#value(key)), ranges: [] } as never
    }
    const indexRanges = ranges.map(({ index, options }) => toIndexRange(index, options))
    const snapshot = await this.#snapshot(records, indexRanges, [])
    const values = snapshot.records.map(({ key, stored }) => (key === null ? undefined : this.#remember(key, stored)))
    const pages = snapshot.ranges.map((range, i) => this.#rememberRange(ranges[i]!, range))
    return { records: values, ranges: pages } as never
  }

  /**
   * Validates weak reads: the records must not have changed since they were read. From then on the transaction
   * relies on them like on any other read.
   * @throws {TransactionConflict} when one of them has changed
   */
  async confirm(records: readonly Key<unknown>[]): Promise<void> {
    const before = records.map((key) => this.#readRecords.get(key)?.revision)
    await this.load({ records })
    if (records.some((key, i) => this.#readRecords.get(key)?.revision !== before[i])) throw new TransactionConflict()
  }

  /**
   * Counts the entries of an index. When the count is at most `limit`, the commit succeeds only if that is still true.
   */
  async count(index: Index<unknown>, limit: number): Promise<number> {
    const [count] = await this.counts([index])
    if (count! <= limit) this.#expectedCapacity.set(index.name, limit)
    return count!
  }

  /** Counts the entries of several indexes in one snapshot. The transaction does not rely on the counts. */
  async counts(counted: readonly Index<unknown>[]): Promise<number[]> {
    const names = counted.map(({ name }) => name)
    return [...(await this.#snapshot([], [], names)).counts]
  }

  /**
   * Writes a record that was read, or found absent, before.
   * @throws {TypeError} when it was not read
   */
  put<T>(key: Key<T>, value: T): void {
    this.#assertRead(key)
    this.#remove.delete(key)
    this.#put.set(key, value as Value)
  }

  /** Reads and writes a new record. Its key contains a new id, so it is absent. */
  async create<T>(key: Key<T>, value: T): Promise<void> {
    await this.get(key)
    this.put(key, value)
  }

  /**
   * Removes a record that was read before.
   * @throws {TypeError} when it was not read
   */
  remove(key: Key<unknown>): void {
    this.#assertRead(key)
    this.#put.delete(key)
    this.#remove.add(key)
  }

  /** The revision of a record: before the commit as it was read, after the commit as it was written. */
  revisionOf(key: Key<unknown>): string | undefined {
    if (this.#committed !== undefined && this.#put.has(key)) return this.#committed
    if (this.#committed !== undefined && this.#remove.has(key)) return undefined
    return this.#readRecords.get(key)?.revision
  }

  /**
   * Applies everything that was put and removed, atomically.
   * @throws {TransactionConflict} when something read has changed since; nothing is written then
   * @throws {StorageUnavailable}
   */
  async commit(): Promise<void> {
    if (this.#put.size === 0 && this.#remove.size === 0) return
    const revision = randomText(this.#random, REVISION_LENGTH)
    const change: Change = {
      revision,
      turn: this.#turn,
      expect: { records: this.#expectedRecords, indexes: this.#expectedIndexes, capacity: this.#expectedCapacity },
      put: this.#put,
      remove: this.#remove,
      indexes: indexChanges(this.#readRecords, this.#put, this.#remove),
    }
    if ((await this.#store.commit(this.partition, change)) === 'conflict') throw new TransactionConflict()
    this.#committed = revision
  }

  #value(key: string): unknown {
    if (this.#remove.has(key)) return undefined
    return this.#put.get(key) ?? this.#readRecords.get(key)?.value
  }

  #remember(key: string, stored: Stored | null, weak = false): unknown {
    if (!weak || !this.#expectedRecords.has(key)) this.#readRecords.set(key, stored)
    if (!weak) this.#expectedRecords.set(key, stored?.revision ?? null)
    return this.#value(key)
  }

  #rememberRange({ index, options }: RangeRequest, range: Snapshot['ranges'][number]): IndexPage<unknown> {
    if (options.weak !== true) this.#expectedIndexes.set(index.name, range.revision)
    const weak = options.weak !== undefined && options.weak !== false
    const values = range.entries.map((entry, i) => this.#remember(index.fetch + lastWord(entry), range.records[i] ?? null, weak))
    return { entries: [...range.entries], values }
  }

  #assertRead(key: string): void {
    if (!this.#expectedRecords.has(key)) throw new TypeError(`store: "${key}" must be read before it is written`)
  }

  async #snapshot(records: readonly string[], ranges: readonly IndexRange[], counts: readonly string[]): Promise<Snapshot> {
    const expect = { records: this.#expectedRecords, indexes: this.#expectedIndexes, capacity: new Map() }
    const snapshot = await this.#store.read(this.partition, { records, ranges, counts, expect })
    if (snapshot === null) throw new TransactionConflict()
    return snapshot
  }
}

function toIndexRange(index: Index<unknown>, { after, before, reverse = false, limit }: RangeOptions): IndexRange {
  return { index: index.name, after, before, reverse, limit, fetch: index.fetch }
}
