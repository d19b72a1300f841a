import { andThen, type Awaitable } from '../model/awaitable.ts'
import { randomText, type RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Index } from './indexes.ts'
import type { Author, CommittingTransaction, Notifying } from './derivation.ts'
import type { Key } from './keys.ts'
import type { Appended, Change, ReadRequest, Snapshot, Store, Template, Value } from './port.ts'
import { PerformedOperations } from './performed-operations.ts'
import { keysOf, NO_CAPACITY, Prefetched, ReadSet, reliedOn, type ReadPage } from './read-set.ts'
import {
  PAGE_SIZE,
  toIndexRange,
  toTemplates,
  type IndexPage,
  type LoadRequest,
  type PageOf,
  type PrefetchRequest,
  type RangeOptions,
  type RangeRequest,
  type Read,
  type ValueOf,
} from './reads.ts'
import { merged, onlyRemoves, widened, Writes } from './writes.ts'

/** Length of a revision, in characters. */
const REVISION_LENGTH = 20

/** A revision that no commit has had. */
export function newRevision(random: RandomSource): string {
  return randomText(random, REVISION_LENGTH)
}

/** A record or index that the transaction read has changed since. The transaction must run again from its beginning. */
export class TransactionConflict extends Error {
  override readonly name = 'TransactionConflict'
}

/**
 * A transaction in one partition, with optimistic concurrency control. It remembers everything that it reads, and
 * each further read and the commit succeed only if none of it has changed. Its decisions are thus still valid at the
 * commit, without the caller stating what they depend on. A record must be read before it is written.
 */
export class Transaction implements CommittingTransaction {
  readonly partition: string
  logged: CommittingTransaction['logged']
  notifying: CommittingTransaction['notifying']
  readonly #store: Store
  readonly #random: RandomSource
  readonly #lease: string | undefined
  readonly #beforeStep: ReadRequest['beforeStep']
  readonly #reads = new ReadSet()
  #prefetched: Prefetched | undefined
  readonly #writes = new Writes()
  /** keys of new records, which contain a new id */
  #created: Set<string> | undefined
  #newRevision: string | undefined
  #appended: Map<string, Appended & { readonly values: Value[] }> | undefined
  #whenCommitted: (() => void)[] | undefined
  #performed: PerformedOperations | undefined
  /** undefined: it has recalled nothing */
  #recalled: 'unverified' | 'verified' | undefined
  /** whether it has taken for true that an index has room */
  #assumesRoom = false

  /**
   * @param lease the id of the lease that it commits in
   * @param beforeStep is called before the steps of its long reads
   */
  constructor(store: Store, partition: string, random: RandomSource, lease?: string, beforeStep?: ReadRequest['beforeStep']) {
    this.#store = store
    this.partition = partition
    this.#random = random
    this.#lease = lease
    this.#beforeStep = beforeStep
  }

  /**
   * Reads one record.
   * @throws {TransactionConflict} when something read before has changed since; this applies to every read
   */
  get<T>(key: Key<T>): Awaitable<T | undefined> {
    return andThen(this.read([key]), ([value]) => value as T | undefined)
  }

  /** Reads several records in one snapshot. A reference is made from members of records before it. */
  read<const Reads extends readonly Read[]>(records: Reads): Awaitable<{ [K in keyof Reads]: ValueOf<Reads[K]> }> {
    const templates = this.#writes.resolve(toTemplates(records))
    const known = this.#reads.resolve(templates, records)
    if (known !== undefined) return this.#values(known) as never
    return andThen(this.#read(templates, [], []), (snapshot) => this.#addRecords(records, snapshot) as never)
  }

  /** Reads a range of an index, with the records of its entries. */
  range<T>(index: Index<T>, options: RangeOptions): Awaitable<IndexPage<T>> {
    return andThen(this.load({ ranges: [{ index, options }] }), ({ ranges: [page] }) => page as IndexPage<T>)
  }

  /**
   * Reads a whole index page by page, with the records of its entries. There is no maximum size. It has the same
   * expectations as {@link Transaction.range}. With `weak: true`, the pages may come from different states.
   * @throws {TransactionConflict} when something read before, including an earlier page, has changed since
   */
  async all<T>(
    index: Index<T>,
    { weak = false, entriesOnly = false }: Pick<RangeOptions, 'weak' | 'entriesOnly'> = {},
  ): Promise<IndexPage<T>> {
    const entries: string[] = []
    const values: (T | undefined)[] = []
    for (let after: string | undefined; ; after = entries.at(-1)) {
      const page = await this.range(index, { limit: PAGE_SIZE, after, weak, entriesOnly })
      entries.push(...page.entries)
      values.push(...page.values)
      if (page.entries.length < PAGE_SIZE) return { entries, values }
    }
  }

  /**
   * Reads records and ranges of indexes in one snapshot, which is consistent with everything read before. What was read
   * before is not read again.
   * @throws {TransactionConflict} when something read before has changed since
   */
  load<const Reads extends readonly Read[] = [], const Ranges extends readonly RangeRequest[] = []>(
    request: LoadRequest<Reads, Ranges>,
  ): Awaitable<{ records: { [K in keyof Reads]: ValueOf<Reads[K]> }; ranges: { [R in keyof Ranges]: PageOf<Ranges[R]> } }> {
    const { records = [], ranges = [] } = request as LoadRequest
    const templates = this.#writes.resolve(toTemplates(records))
    const pages = ranges.length === 0 ? NO_PAGES : this.#prefetchedPages(ranges)
    const known = pages && this.#reads.resolve(templates, records)
    if (known !== undefined)
      return { records: this.#values(known), ranges: pages!.map((page, i) => this.#toPage(page, ranges[i]!)) } as never
    return andThen(this.#read(templates, ranges, []), (snapshot) => {
      const values = this.#addRecords(records, snapshot)
      const loaded = snapshot.ranges.map((range, i) => this.#toPage(this.#addRange(ranges[i]!, range), ranges[i]!))
      return { records: values, ranges: loaded } as never
    })
  }

  /**
   * Prefetches, in one snapshot: later reads of the same records, ranges and counts need no access to remote storage. Storage in this process
   * is asked for what nothing relies on when it is needed, which is cheaper than to remember it.
   * @returns the values of the records
   * @throws {TransactionConflict} when something read before has changed since
   */
  prefetch({ records = [], ranges: all = [], counts = [] }: PrefetchRequest): Awaitable<readonly unknown[]> {
    const { isRemote } = this.#store
    const ranges = isRemote ? all : all.filter(({ options }) => options.weak !== true || options.entriesOnly !== true)
    const names = isRemote ? counts.map(({ name }) => name) : []
    return andThen(this.#read(toTemplates(records), ranges, names), (snapshot) => {
      const values = this.#addRecords(records, snapshot)
      const prefetched = (this.#prefetched ??= new Prefetched())
      for (const [i, range] of ranges.entries()) prefetched.addPage(range, this.#addRange(range, snapshot.ranges[i]!))
      for (const [i, name] of names.entries()) prefetched.addCount(name, snapshot.counts[i]!)
      return values
    })
  }

  /**
   * Begins with what the process remembers of records, instead of a read (see `Store.recall`). The next read, or the commit, finds out whether
   * it is still true. Until then nothing that was decided may be answered, or have an effect outside of the transaction. It relies on each of
   * them as a whole: the members that a read would not rely on are as old as the rest.
   * @returns whether the process remembers all of them; otherwise nothing is read
   */
  recall(records: readonly Read[]): boolean {
    const recalled = this.#store.recall(this.partition, toTemplates(records))
    if (recalled === undefined) return false
    for (const { key, stored } of recalled) if (key !== null) this.#reads.add(key, stored)
    this.#recalled = 'unverified'
    return true
  }

  /** Whether it relies on what was recalled or assumed, and neither a read nor its commit has found it to be true. */
  get isUnverified(): boolean {
    return this.#recalled === 'unverified' || this.#assumesRoom
  }

  /** Whether it has begun with what was recalled. */
  get hasRecalled(): boolean {
    return this.#recalled !== undefined
  }

  /**
   * Validates weak reads: the records must not have changed since they were read. From then on the transaction
   * relies on them like on any other read.
   * @throws {TransactionConflict} when one of them has changed
   */
  async confirm(records: readonly Key<unknown>[]): Promise<void> {
    const before = records.map((key) => this.#reads.get(key)?.revision)
    await this.load({ records })
    if (records.some((key, i) => this.#reads.get(key)?.revision !== before[i])) throw new TransactionConflict()
  }

  /** Forgets a record that was read weakly, so that a transaction that reads many does not keep all of them in memory. */
  forget(key: Key<unknown>): void {
    this.#reads.forgetWeak(key)
  }

  /** Counts the entries of an index. When the count is at most `limit`, the commit succeeds only if that is still true. */
  count(index: Index<unknown>, limit: number): Awaitable<number> {
    return andThen(this.counts([index]), ([count]) => {
      // The commit compares with the stored record.
      if (count! <= limit) this.#reads.addCapacity(index.name, limit - this.#gainOf(index.name))
      return count!
    })
  }

  /**
   * Whether an index has at most so many entries. If it does, the commit succeeds only if that is still true. A transaction that has recalled
   * something takes it for true, and its commit finds out.
   */
  hasAtMost(index: Index<unknown>, limit: number): Awaitable<boolean> {
    if (this.#recalled === undefined || this.#prefetched?.countsOf([index.name]) !== undefined)
      return andThen(this.count(index, limit), (count) => count <= limit)
    this.#assumesRoom = true
    this.#reads.addCapacity(index.name, limit - this.#gainOf(index.name))
    return true
  }

  /** Counts the entries of several indexes in one snapshot. The transaction does not rely on the counts. */
  counts(counted: readonly Index<unknown>[]): Awaitable<number[]> {
    const names = counted.map(({ name }) => name)
    const stored = this.#prefetched?.countsOf(names) ?? andThen(this.#read([], [], names), ({ counts }) => counts)
    return andThen(stored, (counts) => names.map((name, i) => counts[i]! + this.#gainOf(name)))
  }

  /**
   * Writes a record that was read, or found absent, before.
   * @throws {TypeError} when it was not read
   */
  put<T>(key: Key<T>, value: T): void {
    this.relyOnWhole(key)
    this.#performed?.note(key, this.isCreated(key))
    this.#writes.set(key, value as Value)
  }

  /** Writes a new record. Its key contains a new id, so it is absent: the commit checks that, and no read is needed. */
  create<T>(key: Key<T>, value: T): void {
    this.#reads.add(key, null)
    ;(this.#created ??= new Set()).add(key)
    this.put(key, value)
  }

  /**
   * Removes a record that was read before.
   * @throws {TypeError} when it was not read
   */
  remove(key: Key<unknown>): void {
    this.relyOnWhole(key)
    this.#performed?.note(key, false)
    this.#writes.delete(key)
  }

  /** The revision of a record as the transaction leaves it: of one that it writes, the revision of its commit. */
  revisionOf(key: Key<unknown>): string | undefined {
    if (this.#writes.put.has(key)) return this.#revision
    return this.#writes.remove.has(key) ? undefined : this.#reads.get(key)?.revision
  }

  /** Whether it writes or removes a record. */
  isWritten(key: Key<unknown>): boolean {
    return this.#writes.has(key)
  }

  /** How many records it writes so far. */
  get writeCount(): number {
    return this.#writes.size
  }

  get #revision(): string {
    return (this.#newRevision ??= newRevision(this.#random))
  }

  /** A record that was read before, as this transaction leaves it. */
  known<T>(key: Key<T>): T | undefined {
    return this.#value(key) as T | undefined
  }

  /**
   * Relies on a record as a whole, for example because the client has stated its revision.
   * @throws {TypeError} when it was not read
   */
  relyOnWhole(key: Key<unknown>): void {
    if (!this.#reads.reliesOn(key)) throw new TypeError(`store: "${key}" must be read before it is written`)
    this.#reads.relyOnWhole(key)
  }

  before<T>(key: Key<T>): T | undefined {
    return this.#reads.get(key)?.value as T | undefined
  }

  isCreated(key: Key<unknown>): boolean {
    return this.#created?.has(key) === true
  }

  putUnread<T>(key: Key<T>, value: T): void {
    this.#writes.set(key, value as Value)
  }

  append<T>({ name, fetch }: Index<T>, value: T): void {
    const appended = (this.#appended ??= new Map()).get(name)
    if (appended === undefined) this.#appended.set(name, { fetch, values: [value as Value] })
    else appended.values.push(value as Value)
  }

  whenCommitted(done: () => void): void {
    ;(this.#whenCommitted ??= []).push(done)
  }

  /**
   * Adds the changes that the commit makes on boards to their change feeds.
   * @param notifying undefined: nobody gets a notice of them
   */
  logChanges(author: Author, clock: Clock, notifying?: Notifying): void {
    this.logged = { author, clock }
    this.notifying = notifying
  }

  /** Names the operation that the next writes belong to. The operations of a batch follow the batch itself. */
  performs(operation: string): void {
    if (this.#performed === undefined) this.#performed = new PerformedOperations(operation)
    else this.#performed.next(operation)
  }

  operationOf(key: string): string | null {
    return this.#performed?.of(key) ?? null
  }

  /**
   * Applies everything that was put and removed, atomically, with everything that the store derives from it.
   * @throws {TransactionConflict} when something read has changed since; nothing is written then
   * @throws {StorageUnavailable}
   */
  commit(): Awaitable<void> {
    if (this.#writes.isEmpty) return undefined
    this.#appended = this.#whenCommitted = undefined
    const written = [...this.#writes.keys()]
    const none: Awaitable<void> = undefined
    const derived = this.#store.derived.reduce((before, derive) => andThen(before, () => derive(this, written)), none)
    return andThen(derived, () => this.#commit())
  }

  #commit(): Awaitable<void> {
    const change: Change = {
      revision: this.#revision,
      lease: this.#lease,
      expect: this.#reads.expectation,
      onlyRemoves: onlyRemoves(this.#reads.records, this.#writes.put),
      put: this.#writes.put,
      remove: this.#writes.remove,
      indexes: this.#writes.indexes(this.#reads.records),
      append: this.#appended,
    }
    return andThen(this.#store.commit(this.partition, change), (outcome) => {
      if (outcome === 'conflict') throw new TransactionConflict()
      this.#assumesRoom = false
      this.#verify()
      for (const done of this.#whenCommitted ?? []) done()
    })
  }

  /** What was prefetched may have too few entries of an index that entries were removed from since. */
  #prefetchedPages(ranges: readonly RangeRequest[]): ReadPage[] | undefined {
    const isShorter = ranges.some(({ index }) => (this.#writtenTo(index.name)?.remove.length ?? 0) > 0)
    return isShorter ? undefined : this.#prefetched?.pagesOf(ranges)
  }

  /** @param key null: a template has none, so there is no record */
  #value(key: string | null): unknown {
    if (this.#writes.remove.has(key!)) return undefined
    return this.#writes.put.get(key!) ?? this.#reads.get(key!)?.value
  }

  #values(keys: readonly (string | null)[]): unknown[] {
    return keys.map((key) => this.#value(key))
  }

  /** @returns the values of the records, as this transaction leaves them */
  #addRecords(reads: readonly Read[], { records }: Snapshot): unknown[] {
    return records.map(({ key, stored }, i) => {
      if (key !== null) this.#reads.add(key, stored, reliedOn(reads[i]!))
      return this.#value(key)
    })
  }

  #addRange({ index, options }: RangeRequest, range: Snapshot['ranges'][number]): ReadPage {
    if (options.weak !== true) this.#reads.addIndex(index.name, range.revision)
    const weak = options.weak !== undefined && options.weak !== false
    const fetch = options.entriesOnly === true ? undefined : index.fetch
    const page = { entries: range.entries, fetch, records: range.records, weak, isCut: range.isCut === true }
    this.#reads.addPage(page)
    return page
  }

  #toPage(page: ReadPage, { index, options }: RangeRequest): IndexPage<unknown> {
    const cut = page.isCut && { isCut: true }
    // Stryker disable next-line ConditionalExpression: without writes the rest has the same result (of a weak read maybe another state),
    // only later
    if (this.#writes.isEmpty) return { entries: [...page.entries], ...cut, values: page.records.map((stored) => stored?.value) }
    const written = this.#writtenTo(index.name)
    const entries = written === undefined ? page.entries : merged(page.entries, written, options, page.isCut)
    return { entries: [...entries], ...cut, values: keysOf({ ...page, entries }).map((key) => this.#value(key)) }
  }

  /** The entries of an index that this transaction has written so far. */
  #writtenTo(index: string) {
    return this.#writes.isEmpty ? undefined : this.#writes.indexes(this.#reads.records).get(index)
  }

  #gainOf(index: string): number {
    const { add = [], remove = [] } = this.#writtenTo(index) ?? {}
    return add.length - remove.length
  }

  #verify(): void {
    if (this.#recalled !== undefined) this.#recalled = 'verified'
  }

  /** @throws {TransactionConflict} if something read before has changed */
  #read(templates: readonly Template[], ranges: readonly RangeRequest[], counts: readonly string[]): Awaitable<Snapshot> {
    const { records, indexes } = this.#reads.expectation
    const read = this.#store.read(this.partition, {
      records: templates,
      ranges: ranges.map(({ index, options }) => toIndexRange(index, widened(options, this.#writtenTo(index.name)))),
      counts,
      expect: { records, indexes, capacity: NO_CAPACITY },
      beforeStep: this.#beforeStep,
    })
    return andThen(read, (found) => {
      const snapshot = consistent(found)
      this.#verify()
      return snapshot
    })
  }
}

const NO_PAGES: readonly ReadPage[] = []

/** @throws {TransactionConflict} if there is no snapshot: something read before has changed */
function consistent(snapshot: Snapshot | null): Snapshot {
  if (snapshot === null) throw new TransactionConflict()
  return snapshot
}
