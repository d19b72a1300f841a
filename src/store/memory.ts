import type { Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { Partition, type Records } from './partition.ts'
import type { Change, ReadRequest, Snapshot, Store, Stored } from './port.ts'

/**
 * Records in unstorage's memory driver, indexes beside it. Each read and each commit is one synchronous step,
 * so nothing comes between. Nothing survives the process.
 */
export function createMemoryStore(driver: Driver = memoryDriver()): Store {
  const partitions = new Map<string, Partition>()
  const empty = new Partition(new Map())

  return {
    driver: 'memory',
    async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
      return (partitions.get(partition) ?? empty).read(request)
    },
    async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
      const state = partitions.get(partition) ?? new Partition(recordsOf(driver, partition))
      if (!state.holds(change.expect)) return 'conflict'
      partitions.set(partition, state)
      state.apply(change)
      return 'done'
    },
    async *dump(partition: string) {
      yield* (partitions.get(partition) ?? empty).dump()
    },
    async ready(): Promise<void> {},
    async close(): Promise<void> {
      partitions.clear()
      await driver.dispose?.()
    },
  }
}

// The driver itself, not a storage around it: that would make text of every record, and a promise of every step.
function recordsOf(driver: Driver, partition: string): Records {
  const keyOf = (key: string) => `${partition}:${key}`
  return {
    keys: () => (driver.getKeys('', {}) as string[]).filter((key) => key.startsWith(keyOf(''))).map((key) => key.slice(keyOf('').length)),
    get: (key) => (driver.getItem(keyOf(key)) as Stored | null) ?? undefined,
    set: (key, stored) => driver.setItem!(keyOf(key), stored as never, {}),
    delete: (key) => driver.removeItem!(keyOf(key), {}),
  }
}
