import type { Redis } from 'ioredis'
import { afterAll, beforeAll, inject } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import { createBlobs } from '../../src/store/blobs.ts'
import { decorateStore } from '../../src/store/port.ts'
import { createRedisDriver } from '../../src/store/redis/client.ts'
import { Pool, type Run } from '../../src/store/redis/pool.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { quiet } from './log.ts'
import type { Driver } from './memory.ts'
import { missingProgram } from './programs.ts'
import { DATABASES } from './redis.ts'

/** The URL of the Redis that all suites share. Its database 0 has only a counter. @throws {Error} when there is none */
export function sharedRedis(): string {
  const url = inject('redisUrl')
  if (url === undefined) throw missingProgram('redis-server')
  return url
}

/** Runs commands of a suite on a connection to the shared Redis. */
export function runnerOnRedis(): Run {
  let pool: Pool
  beforeAll(async () => void (pool = await Pool.open(sharedRedis(), 1, quiet)))
  afterAll(() => pool.close())
  return (command) => pool.run(command)
}

let counter: Redis | undefined

/** The number of a database that no other test uses: what a test leaves in it costs the others nothing. */
async function takeDatabase(): Promise<number> {
  counter ??= createRedisDriver(sharedRedis()).getInstance() as Redis
  if (counter.status === 'wait') await counter.connect()
  return 1 + ((await counter.incr('databases')) % (DATABASES - 1))
}

/** Each test gets a database and a prefix of its own. */
export const redis: Driver = {
  name: 'redis',
  async open() {
    const prefix = `t${Math.random().toString(36).slice(2)}`
    const url = `${sharedRedis()}/${await takeDatabase()}`
    const bytes = createRedisDriver(url, `${prefix}:bytes`)
    const client = bytes.getInstance() as Redis
    await client.connect()
    const keysBelow = async (path: string) =>
      (await client.keys('*')).filter((key) => key.startsWith(`${path}:`)).map((key) => key.slice(path.length + 1))
    const store = await openRedisStore(url, { log: quiet, derived: createDerivations(), prefix })
    return {
      store: decorateStore(store, { close: async () => (await store.close(), void (await client.flushdb('ASYNC'))) }),
      blobs: createBlobs(bytes),
      recordKeys: (partition) => keysBelow(`${prefix}:{${partition}}:r`),
      blobKeys: () => keysBelow(`${prefix}:bytes`),
      openAgain: () => openRedisStore(url, { log: quiet, derived: createDerivations(), prefix }),
    }
  },
}
