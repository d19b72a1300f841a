import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { inject } from 'vitest'
import { createBlobs } from '../../src/store/blobs.ts'
import { decorateStore } from '../../src/store/decorate.ts'
import { readCheckpoint } from '../../src/store/fs/checkpoint.ts'
import { realDisk } from '../../src/store/fs/disk.ts'
import { createFsBlobDriver } from '../../src/store/fs/blob-driver.ts'
import { openFsStore } from '../../src/store/fs/store.ts'
import { createRedisDriver } from '../../src/store/redis/client.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { selectDrivers, type DriverName } from './driver-selection.ts'
import { quiet } from './log.ts'
import { keysOf, memory, type Driver } from './memory.ts'
import { missingProgram } from './programs.ts'
import { DATABASES } from './redis.ts'

export type { Driver, OpenDriver } from './memory.ts'

/** @param cacheBytes the memory for partitions; with 0, each is released when it is not in use */
const folder = (name: string, cacheBytes?: number): Driver => ({
  name,
  async open() {
    const path = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
    // A small value, so that every suite writes many checkpoints.
    const store = await openFsStore(path, { log: quiet, compactAt: 64 * 1024, cacheBytes })
    const bytes = createFsBlobDriver(`${path}/bytes`)
    return {
      store: decorateStore(store, { close: async () => (await store.close(), await rm(path, { recursive: true })) }),
      blobs: createBlobs(bytes),
      async recordKeys(partition) {
        // Afterwards the checkpoints contain all records. The first compaction may have begun before the last commit.
        await store.compact()
        await store.compact()
        const checkpoint = (await readdir(`${path}/records`)).includes(partition)
          ? await readCheckpoint(realDisk, `${path}/records`, partition)
          : undefined
        return [...(checkpoint?.state.records.keys() ?? [])]
      },
      blobKeys: () => keysOf(bytes),
    }
  },
})

const fs = folder('fs')

/** The URL of the Redis that all suites share. Its database 0 has only a counter. @throws {Error} when there is none */
export function sharedRedis(): string {
  const url = inject('redisUrl')
  if (url === undefined) throw missingProgram('redis-server')
  return url
}

let counter: Redis | undefined

/** The number of a database that no other test uses: what a test leaves in it costs the others nothing. */
async function takeDatabase(): Promise<number> {
  counter ??= createRedisDriver(sharedRedis()).getInstance() as Redis
  if (counter.status === 'wait') await counter.connect()
  return 1 + ((await counter.incr('databases')) % (DATABASES - 1))
}

const redis: Driver = {
  name: 'redis',
  async open() {
    const prefix = `t${Math.random().toString(36).slice(2)}`
    const url = `${sharedRedis()}/${await takeDatabase()}`
    const bytes = createRedisDriver(url, `${prefix}:bytes`)
    const client = bytes.getInstance() as Redis
    await client.connect()
    const keysBelow = async (path: string) =>
      (await client.keys('*')).filter((key) => key.startsWith(`${path}:`)).map((key) => key.slice(path.length + 1))
    const store = await openRedisStore(url, { log: quiet, prefix })
    return {
      store: decorateStore(store, { close: async () => (await store.close(), void (await client.flushdb('ASYNC'))) }),
      blobs: createBlobs(bytes),
      recordKeys: (partition) => keysBelow(`${prefix}:{${partition}}:r`),
      blobKeys: () => keysBelow(`${prefix}:bytes`),
      openAgain: () => openRedisStore(url, { log: quiet, prefix }),
    }
  },
}

const ALL: Readonly<Record<DriverName, Driver>> = { memory, fs, redis }

/** All drivers. The storage suites run on each of them. LANEKEEPER_DRIVERS selects some of them, separated by commas. */
export const drivers: readonly Driver[] = selectDrivers().map((name) => ALL[name])

/** The same, and a folder that keeps nothing in memory: each partition is loaded again for each use. */
export const driversOfContract: readonly Driver[] = drivers.flatMap((driver) =>
  driver === fs ? [fs, folder('fs without memory', 0)] : [driver],
)
