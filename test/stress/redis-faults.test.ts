import { Redis } from 'ioredis'
import { afterEach, describe, expect, test } from 'vitest'
import type { RedisStore } from '../../src/store/redis/store.ts'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { effort } from '../support/effort.ts'
import { Ledger } from '../support/operation-log.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']

let server: RedisServer
let store: RedisStore
let ledger: Ledger

async function begin(options: readonly string[] = []): Promise<void> {
  server = await startRedis(options)
  store = await openRedisStore(server.url, { log: quiet })
  ledger = new Ledger(store)
}

/** Ends the work and holds what there is against what was told. */
async function settle(): Promise<void> {
  await ledger.stop()
  const fresh = await openRedisStore(server.url, { log: quiet })
  expect(await ledger.problems(fresh)).toEqual([])
  await fresh.close()
}

/** Does something to the server behind the service's back. */
async function command(name: string, ...args: string[]): Promise<unknown> {
  const client = new Redis(server.port, '127.0.0.1', { enableReadyCheck: false, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  try {
    return await client.call(name, ...args)
  } finally {
    client.disconnect()
  }
}

describe('a Redis that fails while others write', () => {
  afterEach(async ({ task }) => {
    console.log(`${task.name}: ${JSON.stringify(ledger.summary())}`)
    await store.close()
    await server.stop()
  })

  test('killed and started again: what was acknowledged is there, and the work goes on by itself', async () => {
    await begin(DURABLE)
    ledger.start()
    for (let round = 0; round < effort(3); round++) {
      await ledger.more(20 + Math.random() * 100, 'done')
      await server.kill()
      await ledger.more(20, 'not done', 'unknown')
      await expect(store.ready()).rejects.toThrow('Redis')
      server = await server.restart()
      await ledger.more(50, 'done')
      await store.ready()
    }
    await settle()
  })

  test('that loads what it has when it is started again: refused until then', async () => {
    await begin(['--key-load-delay', '10000', '--loading-process-events-interval-bytes', '1024'])
    for (let i = 0; i < 50; i++) await ledger.increment(String(i))
    await command('SAVE')
    await server.kill()
    let loaded = false
    const back = server.restart().finally(() => (loaded = true))
    ledger.start()
    const asks = async (): Promise<string> => String(await command('GET', 'x').catch((error: Error) => error.message))
    while (!loaded && !(await asks()).startsWith('LOADING')) await ledger.more(1, 'done', 'not done')
    expect(loaded).toBe(false)
    await ledger.more(10, 'not done')
    await expect(store.ready()).rejects.toThrow('Redis')
    server = await back
    await ledger.more(20, 'done')
    expect(ledger.count('unknown')).toBe(0)
    await settle()
  })

  test('stopped and continued: nothing is done twice', async () => {
    await begin()
    ledger.start()
    for (let round = 0; round < effort(1); round++) {
      await ledger.more(50, 'done')
      server.process.kill('SIGSTOP')
      await ledger.more(8, 'not done', 'unknown')
      await expect(store.ready()).rejects.toThrow('Redis')
      server.process.kill('SIGCONT')
      await ledger.more(50, 'done')
      await store.ready()
    }
    await settle()
  })

  test('out of memory: refused, with certainty, and as ever once there is room', async () => {
    await begin()
    ledger.start()
    for (let round = 0; round < effort(3); round++) {
      await ledger.more(50, 'done')
      await command('CONFIG', 'SET', 'maxmemory', '1mb')
      await ledger.more(50, 'not done')
      await expect(store.ready()).rejects.toThrow('Redis')
      await command('CONFIG', 'SET', 'maxmemory', '0')
      await ledger.more(50, 'done')
      await store.ready()
    }
    expect(ledger.count('unknown')).toBe(0)
    await settle()
  })

  test('made a replica, whose master is away: refused; made a master again: as ever', async () => {
    await begin()
    ledger.start()
    for (let round = 0; round < effort(3); round++) {
      await ledger.more(50, 'done')
      await command('REPLICAOF', '127.0.0.1', '1')
      await ledger.more(10, 'not done')
      await expect(store.ready()).rejects.toThrow('Redis')
      await command('REPLICAOF', 'NO', 'ONE')
      await ledger.more(50, 'done')
      await store.ready()
    }
    await settle()
  })

  test('that forgets its scripts', async () => {
    await begin()
    ledger.start()
    for (let round = 0; round < effort(5); round++) {
      await ledger.more(20, 'done')
      await command('SCRIPT', 'FLUSH')
    }
    await ledger.more(20, 'done')
    expect(ledger.count('unknown', 'not done')).toBe(0)
    await settle()
  })

  test('that wants more replicas than it has: refused', async () => {
    await begin()
    ledger.start()
    await ledger.more(20, 'done')
    await command('CONFIG', 'SET', 'min-replicas-to-write', '1')
    await ledger.more(20, 'not done')
    await expect(store.ready()).rejects.toThrow('Redis')
    await command('CONFIG', 'SET', 'min-replicas-to-write', '0')
    await ledger.more(20, 'done')
    await settle()
  })
})
