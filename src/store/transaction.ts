import { randomText, type RandomSource } from '../model/ids.ts'
import { entriesOf, lastWord, type Index, type Key } from './keys.ts'
import type { Change, Expectation, Range, Snapshot, Store, Stored, Value } from './port.ts'

/** What was relied on has changed: the unit of work must start again, with all that it decided. */
export class Conflict extends Error {
  override readonly name = 'Conflict'
}

/** Which part of an index to read. */
export interface RangeOptions {
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly reverse?: boolean
  readonly limit: number
  /** a hint may be stale by the time of the commit; anything else that was read may not */
  readonly hint?: boolean
}

/** Entries of an index with their records. */
export interface Page<T> {
  readonly entries: readonly string[]
  /** undefined where the record of an entry is gone: what it hung on was deleted, and the sweep has not come yet */
  readonly values: readonly (T | undefined)[]
}

/** What to read in one snapshot. */
export interface Wanted<Keys extends readonly Key<unknown>[], Indexes extends readonly { index: Index<unknown>; options: RangeOptions }[]> {
  readonly records?: Keys
  readonly ranges?: Indexes
}
type ValueOf<K> = K extends Key<infer T> ? T | undefined : never
type PageOf<R> = R extends { index: Index<infer T> } ? Page<T> : never

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
  readonly #room = new Map<string, number>()
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
   * @throws {Conflict} where something read before has changed since
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
      if (options.hint !== true) this.#indexes.set(index.name, revision)
      const page: { entries: string[]; values: unknown[] } = { entries: [], values: [] }
      for (const [j, entry] of entries.entries()) {
        page.entries.push(entry)
        page.values.push(this.#remember(index.fetch + lastWord(entry), found[j] ?? null, options.hint))
      }
      return page
    })
    return { records: values, ranges: pages } as never
  }

  /**
   * How many entries an index has. If the unit of work commits, it had at most `atMost` until then.
   * @param atMost what the unit of work relies on; it may go on only if the answer is no greater
   */
  async count(index: Index<unknown>, atMost: number): Promise<number> {
    const snapshot = await this.#snapshot([], [], [index.name])
    this.#room.set(index.name, atMost)
    return snapshot.counts[0]!
  }

  /** Writes a record that was read (or found absent) before. */
  put<T>(key: Key<T>, value: T): void {
    this.#assertRead(key)
    this.#remove.delete(key)
    this.#put.set(key, value as Value)
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
   * @throws {Conflict} where something read has changed since
   */
  async commit(): Promise<void> {
    if (this.#put.size === 0 && this.#remove.size === 0) return
    const revision = randomText(this.#random, 20)
    const change: Change = { revision, expect: this.#expect(), put: this.#put, remove: this.#remove, indexes: this.#indexChanges() }
    if ((await this.#store.commit(this.partition, change)) === 'conflict') throw new Conflict()
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
    return { records: this.#records, indexes: this.#indexes, room: this.#room }
  }

  async #snapshot(records: readonly string[], ranges: readonly Range[], counts: readonly string[]): Promise<Snapshot> {
    const expect = { records: this.#records, indexes: this.#indexes, room: new Map() }
    const snapshot = await this.#store.read(this.partition, { records, ranges, counts, expect })
    if (snapshot === null) throw new Conflict()
    return snapshot
  }

  #indexChanges(): Change['indexes'] {
    const changes = new Map<string, { add: string[]; remove: string[] }>()
    const of = (index: string) => changes.get(index) ?? changes.set(index, { add: [], remove: [] }).get(index)!
    for (const key of [...this.#put.keys(), ...this.#remove]) {
      const before = new Map(entries(key, this.#seen.get(key)?.value))
      const after = new Map(entries(key, this.#put.get(key)))
      for (const [id, [index, entry]] of before) if (!after.has(id)) of(index).remove.push(entry)
      for (const [id, [index, entry]] of after) if (!before.has(id)) of(index).add.push(entry)
    }
    return changes
  }
}

function entries(key: string, value: unknown): [id: string, entry: readonly [string, string]][] {
  return value === undefined ? [] : entriesOf(key, value).map((entry) => [entry.join('\n'), entry])
}

function toRange(index: Index<unknown>, { after, before, reverse, limit }: RangeOptions): Range {
  return { index: index.name, after, before, reverse: reverse ?? false, limit, fetch: index.fetch }
}
