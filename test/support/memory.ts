import type { Driver as StorageDriver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { createDerivations } from '../../src/resources/derived.ts'
import { createBlobs, type Blobs } from '../../src/store/blobs.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'

/** Opened storage that only one test uses. */
export interface OpenDriver {
  readonly store: Store
  readonly blobs: Blobs
  /** the keys of all records of a partition, read from a folder and from Redis without the storage port */
  recordKeys(partition: string): Promise<string[]>
  /** the keys of all chunks of blobs */
  blobKeys(): Promise<string[]>
  /** opens the same storage again, as another process does; absent if only one process can */
  readonly openAgain?: () => Promise<Store>
}

/** A storage driver under test. */
export interface Driver {
  readonly name: string
  /** Opens empty storage. */
  open(): Promise<OpenDriver>
}

export const keysOf = async (driver: StorageDriver) => (await driver.getKeys('', {})) as string[]

/** The memory driver, for suites that are not about storage. They need no Redis. */
export const memory: Driver = {
  name: 'memory',
  async open() {
    const bytes = memoryDriver()
    const store = createMemoryStore(createDerivations())
    return {
      store,
      blobs: createBlobs(bytes),
      async recordKeys(partition) {
        const found: string[] = []
        for await (const batch of store.scan(partition)) found.push(...batch.map(([key]) => key))
        return found
      },
      blobKeys: () => keysOf(bytes),
    }
  },
}
