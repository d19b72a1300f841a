import type { Driver as StorageDriver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { createBlobs, type Blobs } from '../../src/store/blobs.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'

/** Opened storage that only one test uses. */
export interface OpenDriver {
  readonly store: Store
  readonly blobs: Blobs
  /** the keys of all records of a partition, read without the storage port */
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
    const records = new Map<string, StorageDriver>()
    const bytes = memoryDriver()
    const openPartition = (partition: string): StorageDriver => {
      const driver = memoryDriver()
      records.set(partition, driver)
      return driver
    }
    return {
      store: createMemoryStore(openPartition),
      blobs: createBlobs(bytes),
      recordKeys: async (partition) => (records.has(partition) ? keysOf(records.get(partition)!) : []),
      blobKeys: () => keysOf(bytes),
    }
  },
}
