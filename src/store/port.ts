import type { Derivation } from './derivation.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { CommitLease } from './commit-leases.ts'

/**
 * The storage port: every driver implements it, and all other code reads and writes through it.
 *
 * All data belongs to a partition: one for each workspace, and one for data that belongs to no workspace. No read
 * and no commit spans two partitions. A partition holds records under keys, and ordered indexes.
 *
 * Drivers differ in where they store data. Their guarantees are defined here, and one contract suite tests every
 * driver against them.
 */

/** A record's value: plain JSON, frozen. */
export type Value = Readonly<Record<string, unknown>>

/** A record as it was at one moment. */
export interface Stored {
  readonly value: Value
  /** changes with every write and is never reused; an opaque text */
  readonly revision: string
}

/**
 * A key, or the parts of a key. A part that is no text is replaced by a member of a record before it in the same read:
 * `['board:', { index: 0, member: 'board_id' }]` is the board that the first record names. Related records can thus be read in one snapshot
 * and one round trip. Without parts, there is no key.
 */
export type Template = string | readonly (string | { readonly index: number; readonly member: string })[]

/** A range of an index. Entries are ordered by bytes. */
export interface IndexRange {
  readonly index: string
  /** exclusive lower bound; it does not have to be an entry */
  readonly after?: string | undefined
  /** exclusive upper bound; it does not have to be an entry */
  readonly before?: string | undefined
  /** descending order; `limit` then counts from the upper bound */
  readonly reverse?: boolean
  /** maximum number of entries */
  readonly limit: number
  /** reads the entries' records too: this prefix and the last word of an entry form the key */
  readonly fetch?: string
  /** the driver may leave out the last entries if records are long. The first range of a read keeps one entry at least. */
  readonly partial?: boolean
}

/**
 * What a transaction relies on in a record that it has read: its revision, or null when it was absent. With `members`,
 * another revision is accepted too, if the record is present and has the same texts in these members.
 */
export type ExpectedRecord = string | null | PartlyExpected
interface PartlyExpected {
  readonly revision: string
  readonly members: Readonly<Record<string, string>>
}

/** What a transaction has relied on so far and what must still be true. */
export interface Expectation {
  readonly records: ReadonlyMap<string, ExpectedRecord>
  /** index → revision, or null when the index was empty */
  readonly indexes: ReadonlyMap<string, string | null>
  /** index → maximum number of entries before this change; applies to commits only */
  readonly capacity: ReadonlyMap<string, number>
}

/** Expects nothing. */
export const NO_EXPECTATION: Expectation = { records: new Map(), indexes: new Map(), capacity: new Map() }

/** What to read, in one snapshot. */
export interface ReadRequest {
  readonly records: readonly Template[]
  readonly ranges: readonly IndexRange[]
  /** indexes whose entries are counted */
  readonly counts: readonly string[]
  /** the read returns null unless all of this is still true */
  readonly expect: Expectation
  /** A driver that makes a long read in steps calls it before each step but the first, and waits. What it throws ends the read. */
  readonly beforeStep?: (() => Awaitable<void>) | undefined
}

/** The result of a read. Everything in it, and everything expected, was true at one moment. */
export interface Snapshot {
  /** for each template, its key and record; the key is null when it could not be resolved */
  readonly records: readonly { readonly key: string | null; readonly stored: Stored | null }[]
  readonly ranges: readonly {
    readonly entries: readonly string[]
    /** the revision of the index; null when the index is empty */
    readonly revision: string | null
    /** with `fetch`, the record of each entry; otherwise empty */
    readonly records: readonly (Stored | null)[]
    /** with `partial`: whether entries were left out */
    readonly isCut?: boolean
  }[]
  readonly counts: readonly number[]
}

/** One change. It is applied atomically. */
export interface Change {
  /** the revision of everything that the change writes; also identifies a commit that is sent again */
  readonly revision: string
  /** the id of the lease that it is made in */
  readonly lease?: string | undefined
  readonly expect: Expectation
  /** whether it only revokes or removes: a driver makes it although storage is full, if it can */
  readonly onlyRemoves?: boolean | undefined
  /** whether a driver with a list of all records lists those that it puts although they exist: the list may have lost them */
  readonly listsAgain?: boolean | undefined
  readonly put: ReadonlyMap<string, Value>
  readonly remove: ReadonlySet<string>
  /** index → entries to add and to remove */
  readonly indexes: ReadonlyMap<string, { readonly add: readonly string[]; readonly remove: readonly string[] }>
  /** index → records that are added to its end, in the order of commits. They conflict with nothing. */
  readonly append?: ReadonlyMap<string, Appended> | undefined
}

/**
 * Records that a commit adds to the end of an index. The driver numbers them: one more than the last entry, or 1 in an empty
 * index (see `appended.ts`). So the entries have the order of the commits, whatever the clocks say. Such an index has no
 * other entries, and must keep its last one: otherwise numbers would be used again.
 */
export interface Appended {
  /** with the number, the key of a record */
  readonly fetch: string
  readonly values: readonly Value[]
}

/** Storage cannot be reached, or the outcome of a change is unknown. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable'
  /** true when it is certain that nothing was changed */
  readonly outcomeKnown: boolean

  constructor(message: string, { outcomeKnown = true, cause }: { outcomeKnown?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.outcomeKnown = outcomeKnown
  }
}

/** Concurrent writes kept conflicting with an operation, even in leases of its own. Nothing was changed. */
export class Contention extends StorageUnavailable {
  constructor() {
    super('concurrent writes kept conflicting with this operation')
  }
}

/** Damage in how a driver stores a partition: a record or an index that it has and does not list, or a damaged file. */
export interface DriverDamage {
  readonly partition: string
  readonly record?: string
  readonly index?: string
  /** the reason, if it is a file */
  readonly file?: string
}

/** What a store tells about its state. A driver has the members that apply to it. */
export interface StoreMetrics {
  /** the size of the database, and of its log */
  readonly databaseBytes?: number
  readonly logBytes?: number
  /** the transactions that were written, and the rows in them, since the start */
  readonly transactions?: number
  readonly rowsWritten?: number
  /** how often the log was written to the database, how often it could not, and how long that took the last time */
  readonly checkpoints?: number
  readonly checkpointFailures?: number
  readonly checkpointSeconds?: number
  /** the space that is left on the disk */
  readonly freeBytes?: number
  /** the partitions in memory, and the memory that they, or records that were read, take, roughly */
  readonly loadedPartitions?: number
  readonly loadedBytes?: number
  /** how often a partition was loaded, and released, since the start */
  readonly partitionLoads?: number
  readonly partitionReleases?: number
  /** the number of connections that are open, and of those that are not */
  readonly connections?: { readonly open: number; readonly closed: number }
}

/**
 * Storage of records and indexes. Methods throw no expected error other than {@link StorageUnavailable}. What a driver has at hand, it
 * answers at once.
 */
export interface Store {
  /** memory, fs or redis */
  readonly driver: string
  /**
   * whether it is a server: each read is a round trip, so several are better made together, and other processes may use the same storage
   */
  readonly isRemote: boolean
  /** what every commit of a transaction derives: `resources/derived.ts` lists it */
  readonly derived: readonly Derivation[]
  /** @returns null when the expectation is not met */
  read(partition: string, request: ReadRequest): Awaitable<Snapshot | null>
  /**
   * What this process remembers of records, without asking the storage: each is as it was at some moment. Whoever relies on it has to make sure
   * that it is still true, by a read or a commit that expects it.
   * @returns undefined if it does not remember all of them, or reads them as fast
   */
  recall(partition: string, records: readonly Template[]): Snapshot['records'] | undefined
  /**
   * Applies a change. The driver defines what a committed change survives. While another lease is held in the
   * partition, it waits.
   * @returns `conflict` when the expectation is not met; nothing is changed then
   */
  commit(partition: string, change: Change): Awaitable<'done' | 'conflict'>
  /**
   * Takes a lease in a partition, for a caller whose commits or reads kept conflicting with others.
   * @throws {StorageUnavailable}
   */
  takeLease(partition: string): Promise<CommitLease>
  /**
   * Reads all records of a partition as they were at one moment, in batches ordered by key. Used for backups.
   * @throws {StorageUnavailable} when storage fails
   */
  dump(partition: string): AsyncIterable<readonly (readonly [key: string, value: Value])[]>
  /**
   * The names of all partitions with data, in any order. Slow: for maintenance.
   * @throws {StorageUnavailable}
   */
  partitions(): Promise<readonly string[]>
  /**
   * Reads all records of a partition in batches, in any order. Unlike a dump it is no snapshot: each record is as it was at
   * some moment since the beginning, and a record that is written meanwhile may be left out. `stored` is null for a record
   * that the driver lists and has lost.
   * @throws {StorageUnavailable}
   */
  scan(partition: string): AsyncIterable<readonly (readonly [key: string, stored: Stored | null])[]>
  /**
   * Reads the names of the indexes of a partition that have entries, in batches, in any order. A name may come twice.
   * @throws {StorageUnavailable}
   */
  indexNames(partition: string): AsyncIterable<readonly string[]>
  /**
   * Runs maintenance of a partition. A driver that keeps partitions in memory keeps this one until the work has ended, and then
   * releases it, unless it was in memory before.
   */
  hold<T>(partition: string, work: () => Promise<T>): Promise<T>
  /**
   * Whether a partition may have a tombstone whose index entry is before a text. Costs nothing. Always true in drivers that read only
   * what is asked for: there, a read costs little.
   */
  mayHaveTombstoneBefore(partition: string, entry: string): boolean
  /**
   * Finds the damage that no other method shows, in batches. It changes nothing.
   * @throws {StorageUnavailable}
   */
  findDamage(): AsyncIterable<readonly DriverDamage[]> | Iterable<readonly DriverDamage[]>
  /**
   * Calls a function soon after each commit that appends to an index, in this process or another one. It is a hint: it may also
   * come without a reason, and none comes while a connection is lost.
   * @returns ends it
   */
  watch(partition: string, index: string, listener: () => void): () => void
  /** @throws {StorageUnavailable} when storage cannot be read or written at present */
  ready(): Promise<void>
  /** The partitions that were found damaged: they cannot be read, and the others can. A driver may not know. */
  damaged(): readonly string[]
  /** The state of the store, for the metrics. */
  metrics(): Promise<StoreMetrics>
  /** Releases all resources. The store cannot be used afterwards. */
  close(): Promise<void>
}

/** Delegates every method of a store, except those that are overridden. The name of the driver stays the same. */
export function decorateStore(store: Store, overrides: Partial<Store>): Store {
  return {
    driver: store.driver,
    isRemote: store.isRemote,
    derived: store.derived,
    read: (partition, request) => store.read(partition, request),
    recall: (partition, records) => store.recall(partition, records),
    commit: (partition, change) => store.commit(partition, change),
    takeLease: (partition) => store.takeLease(partition),
    dump: (partition) => store.dump(partition),
    partitions: () => store.partitions(),
    scan: (partition) => store.scan(partition),
    indexNames: (partition) => store.indexNames(partition),
    findDamage: () => store.findDamage(),
    hold: (partition, work) => store.hold(partition, work),
    mayHaveTombstoneBefore: (partition, entry) => store.mayHaveTombstoneBefore(partition, entry),
    watch: (partition, index, listener) => store.watch(partition, index, listener),
    ready: () => store.ready(),
    metrics: () => store.metrics(),
    damaged: () => store.damaged(),
    close: () => store.close(),
    ...overrides,
  }
}
