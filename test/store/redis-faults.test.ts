import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RedisStore } from '../../src/store/redis.ts'
import { openRedisStore } from '../../src/store/redis.ts'
import { effort } from '../support/effort.ts'
import { Ledger } from '../support/ledger.ts'
import { quiet } from '../support/log.ts'
import { Proxy } from '../support/proxy.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']

let server: RedisServer
let store: RedisStore
let ledger: Ledger
let told: Record<string, number> = {}

async function begin(options: readonly string[] = [], url?: string): Promise<void> {
  server = await startRedis(options)
  await use(url ?? server.url)
}
async function use(url: string, connections = 2): Promise<void> {
  store = await openRedisStore(url, { log: quiet, connections })
  ledger = new Ledger(store)
}

/** Ends the work and holds what there is against what was told. */
async function settle(direct = server.url): Promise<void> {
  await ledger.stop()
  const fresh = await openRedisStore(direct, { log: quiet })
  expect(await ledger.problems(fresh)).toEqual([])
  await fresh.close()
  for (const what of ledger.told.values()) told[what] = (told[what] ?? 0) + 1
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
  beforeEach(() => {
    told = {}
  })
  afterEach(async ({ task }) => {
    console.log(`${task.name}: ${JSON.stringify(told)}`)
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

describe('a way to Redis that fails while others write', () => {
  let proxy: Proxy
  beforeEach(async () => {
    told = {}
    server = await startRedis()
    proxy = await Proxy.open(server.port)
    await use(proxy.url, 6)
  })
  afterEach(async ({ task }) => {
    console.log(`${task.name}: ${JSON.stringify(told)}, ${proxy.cuts} connections cut`)
    await store.close()
    await proxy.close()
    await server.stop()
  })

  test('cut after any number of bytes, in either direction', async () => {
    ledger.start()
    await ledger.more(20, 'done')
    let left = effort(100)
    await new Promise<void>((resolve) => {
      // Mostly more than the few thousand bytes with which a connection begins.
      proxy.bytes = () => Math.floor(1 + Math.random() * (Math.random() < 0.1 ? 6_000 : 40_000))
      proxy.onCut = () => void (left-- === 0 && resolve())
      proxy.cut()
    })
    proxy.bytes = () => Infinity
    await ledger.more(50, 'done')
    await settle()
  })

  test('that refuses connections, and then does not', async () => {
    ledger.start()
    for (let round = 0; round < effort(3); round++) {
      await ledger.more(20, 'done')
      proxy.refuses = true
      proxy.cut()
      await ledger.more(20, 'not done')
      proxy.refuses = false
      await ledger.more(20, 'done')
    }
    await settle()
  })

  test.each(['to', 'from'] as const)('that carries nothing any more %s the server, and says nothing', async (direction) => {
    ledger.start()
    await ledger.more(20, 'done')
    proxy.hold(direction)
    // As where a machine vanished: nobody says that the connection is gone. A new one is made without our help.
    await ledger.more(100, 'done')
    await store.ready()
    await proxy.release()
    await ledger.more(20, 'done')
    await settle()
  })

  test('that leads to another server once the first was made its replica', async () => {
    const first = server
    await ledger.increment('before')
    const second = await startRedis(['--replicaof', '127.0.0.1', String(first.port)])
    try {
      const client = new Redis(second.port, '127.0.0.1')
      while (!String(await client.info('replication')).includes('master_link_status:up')) await client.ping()
      await client.call('WAIT', '0', '0').catch(() => undefined)
      await client.call('REPLICAOF', 'NO', 'ONE')
      client.disconnect()
      proxy.target = second.port
      await command('REPLICAOF', '127.0.0.1', String(second.port))
      ledger.start()
      // The connections that there are still lead to the first, which refuses every write.
      await ledger.more(50, 'done')
      await settle(second.url)
    } finally {
      await second.stop()
    }
  })
})
