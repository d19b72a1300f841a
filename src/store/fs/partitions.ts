import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import type { Logger } from 'pino'
import { indexes } from '../indexes.ts'
import type { entriesOf } from '../indexing.ts'
import { freeze, Partition } from '../partition.ts'
import { PendingChanges } from '../pending-changes.ts'
import { StorageUnavailable, type Stored, type StoreMetrics, type Value } from '../port.ts'
import { Semaphore } from '../semaphore.ts'
import { SortedIndex } from '../sorted-index.ts'
import { ADVICE, StorageDamaged } from './damage.ts'
import { databaseIn } from './folder.ts'
import { readRecords } from './rows.ts'
import type { DatabaseSync, StatementSync } from './sqlite.ts'

/** Partitions that are loaded at the same time: each takes memory before anyone can use it. */
const MAX_LOADS = 4
/** The records, or entries, that are worked on before other work runs. */
const STEP = 2000
/** The memory that a record takes, as a multiple of its JSON. Measured, with its share of the indexes. */
const MEMORY_FACTOR = 2
/** The bytes of the JSON of a record, as long as the partition has none. */
const RECORD_BYTES = 500
const TOMBSTONES = indexes.tombstones().name

/** The memory that loaded partitions may take by default, in bytes: half of what the process may use for objects. */
export function defaultCacheBytes(): number {
  return getHeapStatistics().heap_size_limit / 2
}

/** A partition cannot be read. */
class UnreadablePartition extends StorageUnavailable {}

/** A partition in memory. */
export class LoadedPartition {
  readonly state: Partition & { readonly records: Map<string, Stored> }
  readonly pending = new PendingChanges()
  /** the numbers of its rows by their keys, also of those that are pending */
  readonly numbers: Map<string, number>
  /** higher than all numbers that it has had */
  nextNumber: number
  /** when it was last used, as a number that grows with each use */
  usedAt = 0
  /** the memory that it was last found to take, in bytes; an estimate */
  size = 0
  readonly #recordBytes: number

  /** @param bytes of the JSON of its records */
  constructor(records = new Map<string, Stored>(), numbers = new Map<string, number>(), nextNumber = 0, bytes = 0) {
    this.state = new Partition(records) as LoadedPartition['state']
    this.numbers = numbers
    this.nextNumber = nextNumber
    this.#recordBytes = bytes === 0 ? RECORD_BYTES : bytes / (records.size + 1)
  }

  /** The memory that it takes now, in bytes. */
  estimate(): number {
    return (this.state.records.size + 1) * this.#recordBytes * MEMORY_FACTOR
  }
}

/** A partition that is being loaded. */
interface Loading {
  /** when its records are there */
  readonly records: Promise<LoadedPartition>
  /** when its indexes are there too */
  readonly all: Promise<LoadedPartition>
}

export interface PartitionsOptions {
  /** of the folder */
  readonly path: string
  readonly database: DatabaseSync
  readonly log: Logger
  /** those that exist */
  readonly names: readonly string[]
  /** the memory that partitions may take, in bytes. If it is not 0, the partition that was used last stays in any case. */
  readonly cacheBytes: number
  /** whether a partition must stay although no one uses it at this moment */
  readonly isNeeded: (name: string) => boolean
  /** the index entries of a record */
  readonly entriesOf: typeof entriesOf
}

/**
 * The partitions of a folder. A partition is loaded when it is used, and released when others need the memory: those first that were not
 * used for the longest time. Partitions fail one by one: the others work while one cannot be read.
 */
export class Partitions {
  readonly #options: PartitionsOptions
  readonly #names: Set<string>
  readonly #loaded = new Map<string, LoadedPartition>()
  readonly #loading = new Map<string, Loading>()
  /** partition → how many use it at this moment; it does not have to be loaded yet */
  readonly #uses = new Map<string, number>()
  readonly #damaged = new Map<string, StorageUnavailable>()
  readonly #semaphore = new Semaphore(MAX_LOADS)
  readonly #firstTombstone: StatementSync
  #now = 0
  #size = 0
  #loads = 0
  #releases = 0

  constructor(options: PartitionsOptions) {
    this.#options = options
    this.#names = new Set(options.names)
    this.#firstTombstone = options.database.prepare(
      `SELECT min(value ->> '$.not_before') AS first FROM records INDEXED BY tombstones
       WHERE partition = (SELECT id FROM partitions WHERE name = ?) AND key >= 'tombstone:' AND key < 'tombstone;'`,
    )
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  /** The partitions that were found damaged. */
  get damaged(): readonly string[] {
    return [...this.#damaged.keys()]
  }

  /** A partition, if it is loaded; it counts as used. The caller must not keep it beyond its present synchronous step. */
  peek(name: string): LoadedPartition | undefined {
    const partition = this.#loaded.get(name)
    if (partition !== undefined) partition.usedAt = ++this.#now
    return partition
  }

  /**
   * Runs work with a partition, which stays loaded meanwhile.
   * @throws {UnreadablePartition} when it cannot be read. It is read again at its next use, unless it is damaged.
   */
  async use<T>(name: string, work: (partition: LoadedPartition) => T | Promise<T>): Promise<T> {
    this.#begin(name)
    try {
      return await work(this.peek(name) ?? (await this.#load(name)))
    } finally {
      this.#end(name, true)
    }
  }

  /**
   * Runs work during which a partition is not released. If it was not loaded before, it is not expected to be used again
   * soon: afterwards it is the first one that is released.
   */
  async hold<T>(name: string, work: () => Promise<T>): Promise<T> {
    const wasLoaded = this.#begin(name)
    try {
      return await work()
    } finally {
      this.#end(name, wasLoaded)
    }
  }

  /** The same with a partition whose indexes may not be there yet: a read of records need not wait for them. */
  async useRecords<T>(name: string, work: (partition: LoadedPartition) => T): Promise<T> {
    this.#begin(name)
    try {
      return work(this.peek(name) ?? (await this.#begun(name).records))
    } finally {
      this.#end(name, true)
    }
  }

  /** Reads batches of a partition in {@link hold}. */
  async *read<T>(name: string, batchesOf: (state: LoadedPartition['state']) => Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
    const wasLoaded = this.#begin(name)
    try {
      yield* batchesOf((this.peek(name) ?? (await this.#load(name))).state)
    } finally {
      this.#end(name, wasLoaded)
    }
  }

  /** Must be called when a change was applied to a partition that is in use. */
  changed(name: string, partition: LoadedPartition): void {
    this.#names.add(name)
    const size = partition.estimate()
    this.#size += size - partition.size
    partition.size = size
  }

  /** Whether a partition may have a tombstone whose entry is before a text. Does not load it. */
  mayHaveTombstoneBefore(name: string, entry: string): boolean {
    const loaded = this.#loaded.get(name)
    try {
      const first =
        loaded === undefined
          ? (this.#firstTombstone.get(name) as { first: string | null }).first
          : loaded.state.indexes.get(TOMBSTONES)?.range({ index: TOMBSTONES, limit: 1 })[0]
      return first != null && first < entry
    } catch {
      // If it is damaged, its use will tell.
      return true
    }
  }

  metrics(): Pick<StoreMetrics, 'loadedPartitions' | 'loadedBytes' | 'partitionLoads' | 'partitionReleases'> {
    return {
      loadedPartitions: this.#loaded.size,
      loadedBytes: Math.round(this.#size),
      partitionLoads: this.#loads,
      partitionReleases: this.#releases,
    }
  }

  #load(name: string): Promise<LoadedPartition> {
    return this.#begun(name).all
  }

  #begun(name: string): Loading {
    let loading = this.#loading.get(name)
    if (loading === undefined) {
      let all: Promise<LoadedPartition>
      const records = new Promise<LoadedPartition>((resolve, reject) => {
        all = this.#read(name, resolve).finally(() => this.#loading.delete(name))
        // If it has no records, or cannot be read.
        all.then(resolve, reject)
      })
      // Each may wait for one of the two.
      records.catch(() => undefined)
      loading = { records, all: all! }
      this.#loading.set(name, loading)
    }
    return loading
  }

  /** @param onRecords gets it when its records are there, before its indexes */
  async #read(name: string, onRecords: (partition: LoadedPartition) => void): Promise<LoadedPartition> {
    const damage = this.#damaged.get(name)
    if (damage !== undefined) throw damage
    await this.#semaphore.acquire()
    try {
      const partition = this.#names.has(name) ? await this.#readRecords(name, onRecords) : new LoadedPartition()
      partition.usedAt = ++this.#now
      this.#loaded.set(name, partition)
      this.#size += partition.size = partition.estimate()
      // Those who needed its records alone may have left.
      this.#release()
      return partition
    } catch (error) {
      this.#options.log.error({ err: error, partition: name }, 'records could not be read')
      // At the start of a command or a service, nothing but the message says what is damaged.
      const isDamaged = error instanceof StorageDamaged
      const unavailable = new UnreadablePartition(isDamaged ? error.message : 'records could not be read', { cause: error })
      if (isDamaged) this.#damaged.set(name, unavailable)
      throw unavailable
    } finally {
      this.#semaphore.release()
    }
  }

  /** Nothing writes to it meanwhile, because that needs it to be loaded. Other work runs after each step. */
  async #readRecords(name: string, onRecords: (partition: LoadedPartition) => void): Promise<LoadedPartition> {
    const { database, path } = this.#options
    const [records, numbers] = [new Map<string, Stored>(), new Map<string, number>()]
    let [last, bytes] = [-1, 0]
    const steps = readRecords(database, path, name)
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) {
      for (const { number, key, revision, value } of step.value) {
        records.set(key, { value: freeze(JSON.parse(value) as Value), revision })
        numbers.set(key, number)
        last = number
        bytes += value.length
      }
      await nextTurn()
    }
    if (step.value?.rows !== records.size)
      throw new StorageDamaged(`${databaseIn(path)} is damaged in the workspace ${name}: it has lost records; ${ADVICE}`)
    const partition = new LoadedPartition(records, numbers, last + 1, bytes)
    onRecords(partition)
    await this.#fillIndexes(partition, step.value.revision)
    this.#loads++
    return partition
  }

  /**
   * Indexes follow from the records.
   * @param revision the last commit's: with one for each load, a transaction would fail that reads before a release and commits after it
   */
  async #fillIndexes({ state }: LoadedPartition, revision: string): Promise<void> {
    const [found, hidden] = [new Map<string, string[]>(), new Map<string, string[]>()]
    let count = 0
    for (const [key, { value }] of state.records) {
      for (const [index, entry, hides] of this.#options.entriesOf(key, value)) {
        const all = hides === undefined ? found : hidden
        const entries = all.get(index)
        if (entries === undefined) all.set(index, [entry])
        else entries.push(entry)
      }
      if (++count % STEP === 0) await nextTurn()
    }
    for (const [name, entries] of found) {
      const index = new SortedIndex()
      index.change(entries, [], revision)
      const without = hidden.get(name)
      if (without !== undefined) index.change([], without, revision)
      if (index.size > 0) state.indexes.set(name, index)
      if ((count += entries.length) > STEP) await nextTurn().then(() => (count = 0))
    }
  }

  /**
   * From now on a partition is in use, and is not released.
   * @returns whether it is loaded
   */
  #begin(name: string): boolean {
    this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1)
    return this.#loaded.has(name)
  }

  /** @param keep whether it is expected to be used again */
  #end(name: string, keep: boolean): void {
    const uses = this.#uses.get(name)! - 1
    if (uses > 0) this.#uses.set(name, uses)
    else this.#uses.delete(name)
    const partition = this.#loaded.get(name)
    if (partition !== undefined && !keep) partition.usedAt = 0
    this.#release()
  }

  #release(): void {
    const { cacheBytes, isNeeded } = this.#options
    const isTooLarge = () => this.#size > cacheBytes && this.#loaded.size > (cacheBytes > 0 ? 1 : 0)
    if (!isTooLarge()) return
    for (const [name, partition] of [...this.#loaded].toSorted(([, a], [, b]) => a.usedAt - b.usedAt)) {
      if (!isTooLarge()) return
      if (this.#uses.has(name) || isNeeded(name)) continue
      this.#loaded.delete(name)
      this.#size -= partition.size
      this.#releases++
    }
  }
}
