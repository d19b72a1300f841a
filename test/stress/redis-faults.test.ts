import { Redis } from 'ioredis'
import { afterEach, describe, expect, test } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { OperationLog } from '../support/operation-log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

/** Options that let acknowledged commits survive a kill of Redis. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']

let server: RedisServer
let store: RedisStore
let operations: OperationLog

async function begin(options: readonly string[] = []): Promise<void> {
  server = await startRedis(options)
  store = await openRedisStore(server.url, { log: quiet, derived: createDerivations() })
  operations = new OperationLog(store)
}

/** Stops the work and compares its outcomes with the content of the server. */
async function verify(): Promise<void> {
  await operations.stop()
  const verifier = await openRedisStore(server.url, { log: quiet, derived: createDerivations() })
  expect(await operations.findViolations(verifier)).toEqual([])
  await verifier.close()
}

/** Sends a command to the server over a separate connection. */
async function command(...[name, ...args]: string[]): Promise<unknown> {
  const client = new Redis(server.port, '127.0.0.1', { enableReadyCheck: false, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  try {
    return await client.call(name!, ...args)
  } finally {
    client.disconnect()
  }
}

describe('a Redis that fails while clients write', () => {
  afterEach(async ({ task }) => {
    console.log(`${task.name}: ${JSON.stringify(operations.summary())}`)
    await store.close()
    await server.stop()
  })

  test('acknowledged commits survive a kill of Redis, and work continues after its restart', async () => {
    await begin(DURABLE)
    operations.start()
    for (let round = 0; round < effort(3); round++) {
      await operations.more(20 + Math.random() * 100, 'done')
      await server.kill()
      await operations.more(20, 'not done', 'unknown')
      await expect(store.ready()).rejects.toThrow('Redis')
      server = await server.restart()
      await operations.more(50, 'done')
      await store.ready()
    }
    await verify()
  })

  test('commits are refused while a restarted Redis loads its data, and succeed afterwards', async () => {
    await begin(['--key-load-delay', '10000', '--loading-process-events-interval-bytes', '1024'])
    for (let i = 0; i < 50; i++) await operations.increment(String(i))
    await command('SAVE')
    await server.kill()
    let loaded = false
    const restarted = server.restart().finally(() => (loaded = true))
    operations.start()
    const reply = async (): Promise<string> => String(await command('GET', 'x').catch((error: Error) => error.message))
    while (!loaded && !(await reply()).startsWith('LOADING')) await operations.more(1, 'done', 'not done')
    expect(loaded).toBe(false)
    await operations.more(10, 'not done')
    await expect(store.ready()).rejects.toThrow('Redis')
    server = await restarted
    await operations.more(20, 'done')
    expect(operations.count('unknown')).toBe(0)
    await verify()
  })

  test('no commit is done twice when Redis is stopped and continues', async () => {
    await begin()
    operations.start()
    for (let round = 0; round < effort(1); round++) {
      await operations.more(50, 'done')
      server.process.kill('SIGSTOP')
      await operations.more(8, 'not done', 'unknown')
      await expect(store.ready()).rejects.toThrow('Redis')
      server.process.kill('SIGCONT')
      await operations.more(50, 'done')
      await store.ready()
    }
    await verify()
  })

  test.each<[state: string, begin: string[], end: string[]]>([
    ['is a replica of an unreachable master', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    [
      'has fewer replicas than it requires',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    ],
  ])('commits are refused while Redis %s, and succeed afterwards', async (_state, refuse, accept) => {
    await begin()
    // Redis 6 does not apply min-replicas-to-write to scripts: it is not ready, and makes commits all the same.
    const isIgnored = refuse.includes('min-replicas-to-write') && /^redis_version:6\./m.test(String(await command('INFO', 'server')))
    operations.start()
    for (let round = 0; round < effort(3); round++) {
      await operations.more(50, 'done')
      await command(...refuse)
      await operations.more(50, isIgnored ? 'done' : 'not done')
      await expect(store.ready()).rejects.toThrow('Redis')
      await command(...accept)
      await operations.more(50, 'done')
      await store.ready()
    }
    await verify()
  })
})
