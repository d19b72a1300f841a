import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Driver as StorageDriver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { createBlobs, type Blobs } from '../../src/store/blobs.ts'
import { readCheckpoint } from '../../src/store/fs/checkpoint.ts'
import { realDisk } from '../../src/store/fs/disk.ts'
import { durableDriver } from '../../src/store/fs/blob-driver.ts'
import { openFsStore } from '../../src/store/fs/open.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { driverFor } from '../../src/store/redis/client.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { quiet } from './log.ts'
import { sharedRedis } from './redis.ts'

/** A place to store things that a test has for itself. */
export interface OpenDriver {
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
  open(): Promise<OpenDriver>
}

const keysOf = async (driver: StorageDriver) => (await driver.getKeys('', {})) as string[]

const memory: Driver = {
  name: 'memory',
  async open() {
    const [records, bytes] = [memoryDriver(), memoryDriver()]
    return {
      store: createMemoryStore(records),
      blobs: createBlobs(bytes),
      recordKeys: async (partition) =>
        (await keysOf(records)).filter((key) => key.startsWith(`${partition}:`)).map((key) => key.slice(partition.length + 1)),
      blobKeys: () => keysOf(bytes),
    }
  },
}

const fs: Driver = {
  name: 'fs',
  async open() {
    const path = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
    // Small, so that every suite goes through many checkpoints.
    const store = await openFsStore(path, { log: quiet, compactAt: 64 * 1024 })
    const bytes = durableDriver(`${path}/bytes`)
    return {
      store: {
        driver: 'fs',
        read: (...request) => store.read(...request),
        commit: (...change) => store.commit(...change),
        ready: () => store.ready(),
        dump: (partition) => store.dump(partition),
        close: async () => (await store.close(), await rm(path, { recursive: true })),
      },
      blobs: createBlobs(bytes),
      async recordKeys(partition) {
        // A partition that was not written since the last checkpoint has none of this one's number: so write it.
        await store.compact()
        const found = (await readdir(`${path}/records`)).includes(partition)
          ? await readCheckpoint(realDisk, `${path}/records`, partition)
          : undefined
        return [...(found?.state.records.keys() ?? [])]
      },
      blobKeys: () => keysOf(bytes),
    }
  },
}

const redis: Driver = {
  name: 'redis',
  async open() {
    const url = await sharedRedis()
    const prefix = `t${Math.random().toString(36).slice(2)}`
    const bytes = driverFor(url, `${prefix}:bytes`)
    await bytes.getInstance().connect()
    const scan = async (pattern: string) => {
      const found: string[] = []
      for (let cursor = '0'; ;) {
        const [next, keys] = await (bytes.getInstance() as Redis).scan(cursor, 'MATCH', pattern, 'COUNT', 1000)
        found.push(...keys)
        if ((cursor = next) === '0') return found
      }
    }
    return {
      store: await openRedisStore(url, { log: quiet, prefix }),
      blobs: createBlobs(bytes),
      recordKeys: async (partition) =>
        (await scan(`${prefix}:{${partition}}:r:*`)).map((key) => key.slice(`${prefix}:{${partition}}:r:`.length)),
      blobKeys: async () => (await scan(`${prefix}:bytes:*`)).map((key) => key.slice(`${prefix}:bytes:`.length)),
    }
  },
}

/** Every driver. The suites that speak of storage run over each; LANEKEEPER_DRIVERS narrows them, as for a quick look. */
export const drivers: readonly Driver[] = [memory, fs, redis].filter(({ name }) =>
  (process.env['LANEKEEPER_DRIVERS'] ?? name).split(',').includes(name),
)
