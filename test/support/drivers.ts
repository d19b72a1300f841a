import memoryDriver from 'unstorage/drivers/memory'
import type { Blobs } from '../../src/store/blobs.ts'
import { createBlobs } from '../../src/store/blobs.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'

/** A place to store things that a test has for itself. */
export interface Place {
  readonly store: Store
  readonly blobs: Blobs
  /** the keys of all records of a partition, found behind the port's back */
  recordKeys(partition: string): Promise<string[]>
  /** the keys of all bytes */
  blobKeys(): Promise<string[]>
}

/** A storage driver under test. */
export interface Driver {
  readonly name: string
  /** Opens an empty place. */
  open(): Promise<Place>
}

const memory: Driver = {
  name: 'memory',
  async open() {
    const [records, bytes] = [memoryDriver(), memoryDriver()]
    const keysOf = async (driver: typeof records) => (await driver.getKeys('', {})) as string[]
    return {
      store: createMemoryStore(records),
      blobs: createBlobs(bytes),
      recordKeys: async (partition) =>
        (await keysOf(records)).filter((key) => key.startsWith(`${partition}:`)).map((key) => key.slice(partition.length + 1)),
      blobKeys: () => keysOf(bytes),
    }
  },
}

/** Every driver. The suites that speak of storage run over each. */
export const drivers: readonly Driver[] = [memory]
