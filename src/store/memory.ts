import type { Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { Partition, type Records } from './partition.ts'
import type { Change, ReadRequest, Snapshot, Store, Stored, Value } from './port.ts'
import { Turns, type Turn } from './turns.ts'

/**
 * Opens a store in memory: records in unstorage's memory driver, indexes beside it. Each read and each commit is one
 * synchronous step, so it is atomic. Nothing survives the process. One process per store.
 */
export function createMemoryStore(driver: Driver = memoryDriver()): MemoryStore {
  return new MemoryStore(driver)
}

/** A store in memory. */
export class MemoryStore implements Store {
  readonly driver = 'memory'
  readonly #driver: Driver
  readonly #partitions = new Map<string, Partition>()
  readonly #turns = new Turns()

  constructor(driver: Driver) {
    this.#driver = driver
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    return (this.#partitions.get(partition) ?? EMPTY).read(request)
  }

  async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    await this.#turns.pass(partition, change.turn)
    const state = this.#partitions.get(partition) ?? new Partition(recordsOf(this.#driver, partition))
    if (!state.meets(change.expect)) return 'conflict'
    this.#partitions.set(partition, state)
    state.apply(change)
    return 'done'
  }

  takeTurn(partition: string): Promise<Turn> {
    return this.#turns.take(partition)
  }

  async *dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    yield* (this.#partitions.get(partition) ?? EMPTY).dump()
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {
    this.#partitions.clear()
    await this.#driver.dispose?.()
  }
}

/** Read in place of a partition without data. Nothing is written to it. */
const EMPTY = new Partition(new Map())

/** The records of a partition. It calls the driver directly: an unstorage `Storage` would serialise every record and be asynchronous. */
function recordsOf(driver: Driver, partition: string): Records {
  const prefix = `${partition}:`
  return {
    keys: () => (driver.getKeys('', {}) as string[]).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
    get: (key) => (driver.getItem(prefix + key) as Stored | null) ?? undefined,
    set: (key, stored) => driver.setItem!(prefix + key, stored as never, {}),
    delete: (key) => driver.removeItem!(prefix + key, {}),
  }
}
