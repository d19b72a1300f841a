import type { Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import { Partition, type Records } from './partition.ts'
import type { Change, ReadRequest, Snapshot, Store, Stored, StoreMetrics, Value } from './port.ts'
import { CommitLeases, type CommitLease } from './commit-leases.ts'
import { Watchers } from './watchers.ts'

/** Opens a store in memory. One process per store. */
export function createMemoryStore(derived: Store['derived']): Store {
  return new MemoryStore(derived)
}

/**
 * A store in memory: records in unstorage's memory driver, indexes beside it. Each read and each commit is one synchronous step, so it is
 * atomic. Nothing survives the process.
 */
class MemoryStore implements Store {
  readonly driver = 'memory'
  readonly isRemote = false
  /** It reads as fast. */
  readonly recall = (): undefined => undefined
  readonly derived: Store['derived']
  readonly #partitions = new Map<string, Partition>()
  readonly #leases = new CommitLeases()
  readonly #watchers = new Watchers()

  constructor(derived: Store['derived']) {
    this.derived = derived
  }

  read(partition: string, request: ReadRequest): Snapshot | null {
    return (this.#partitions.get(partition) ?? EMPTY).read(request)
  }

  commit(partition: string, change: Change): Awaitable<'done' | 'conflict'> {
    return andThen(this.#leases.pass(partition, change.lease), () => this.#apply(partition, change))
  }

  #apply(partition: string, change: Change): 'done' | 'conflict' {
    if (!(this.#partitions.get(partition) ?? EMPTY).meets(change.expect)) return 'conflict'
    const state = this.#partitions.get(partition) ?? new Partition(openRecords())
    this.#partitions.set(partition, state)
    state.apply(change)
    this.#watchers.notify(partition, change)
    return 'done'
  }

  takeLease(partition: string): Promise<CommitLease> {
    return this.#leases.take(partition)
  }

  async *dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    yield* (this.#partitions.get(partition) ?? EMPTY).dump()
  }

  async partitions(): Promise<readonly string[]> {
    return [...this.#partitions.keys()]
  }

  async *scan(partition: string): AsyncGenerator<(readonly [string, Stored])[]> {
    yield* (this.#partitions.get(partition) ?? EMPTY).scan()
  }

  async *indexNames(partition: string): AsyncGenerator<string[]> {
    yield* (this.#partitions.get(partition) ?? EMPTY).indexNames()
  }

  watch(partition: string, index: string, listener: () => void): () => void {
    return this.#watchers.watch(partition, index, listener)
  }

  hold<T>(_partition: string, work: () => Promise<T>): Promise<T> {
    return work()
  }

  mayHaveTombstoneBefore(): boolean {
    return true
  }

  findDamage(): readonly [] {
    return []
  }

  damaged(): readonly [] {
    return []
  }

  async metrics(): Promise<StoreMetrics> {
    return {}
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {
    this.#partitions.clear()
  }
}

/** Read in place of a partition without data. Nothing is written to it. */
const EMPTY = new Partition(new Map())

/**
 * The records of a partition. It calls the driver directly: an unstorage `Storage` would serialise every record and be
 * asynchronous. With a driver for each partition, keys need no prefix, whose concatenation takes longer than the lookup.
 */
function openRecords(): Records {
  const driver = memoryDriver() as Driver
  const keys = () => driver.getKeys('', {}) as string[]
  const get = (key: string) => (driver.getItem(key) as Stored | null) ?? undefined
  return {
    keys,
    get,
    values: () => keys().map((key) => get(key)!),
    set: (key, stored) => driver.setItem!(key, stored as never, {}),
    delete: (key) => driver.removeItem!(key, {}),
  }
}
