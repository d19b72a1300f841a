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

export type { Driver, OpenDriver } from './memory.ts'

const fs: Driver = {
  name: 'fs',
  async open() {
    const path = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
    // A small value, so that every suite writes many checkpoints.
    const store = await openFsStore(path, { log: quiet, compactAt: 64 * 1024 })
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
}

/** The URL of the Redis that all suites share. Each store uses a separate key prefix. @throws {Error} when there is none */
export function sharedRedis(): string {
  const url = inject('redisUrl')
  if (url === undefined) throw missingProgram('redis-server')
  return url
}

const redis: Driver = {
  name: 'redis',
  async open() {
    const url = sharedRedis()
    const prefix = `t${Math.random().toString(36).slice(2)}`
    const bytes = createRedisDriver(url, `${prefix}:bytes`)
    await bytes.getInstance().connect()
    const scan = async (pattern: string) => {
      const matches: string[] = []
      for (let cursor = '0'; ;) {
        const [next, keys] = await (bytes.getInstance() as Redis).scan(cursor, 'MATCH', pattern, 'COUNT', 1000)
        matches.push(...keys)
        if ((cursor = next) === '0') return matches
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

const ALL: Readonly<Record<DriverName, Driver>> = { memory, fs, redis }

/** All drivers. The storage suites run on each of them. LANEKEEPER_DRIVERS selects some of them, separated by commas. */
export const drivers: readonly Driver[] = selectDrivers().map((name) => ALL[name])
