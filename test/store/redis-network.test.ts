import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { effort } from '../support/effort.ts'
import { Ledger } from '../support/operation-log.ts'
import { quiet } from '../support/log.ts'
import { Proxy } from '../support/proxy.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

/** A way to Redis that fails while others write. */
let server: RedisServer
let proxy: Proxy
let store: RedisStore
let ledger: Ledger

beforeEach(async () => {
  server = await startRedis()
  proxy = await Proxy.open(server.port)
  store = await openRedisStore(proxy.url, { log: quiet, connections: 6 })
  ledger = new Ledger(store)
})
afterEach(async ({ task }) => {
  console.log(`${task.name}: ${JSON.stringify(ledger.summary())}, ${proxy.cuts} connections cut`)
  await store.close()
  await proxy.close()
  await server.stop()
})

/** Ends the work and holds what there is against what was told. */
async function settle(direct = server.url): Promise<void> {
  await ledger.stop()
  const fresh = await openRedisStore(direct, { log: quiet })
  expect(await ledger.problems(fresh)).toEqual([])
  await fresh.close()
}

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
    const demoted = new Redis(first.port, '127.0.0.1')
    await demoted.call('REPLICAOF', '127.0.0.1', String(second.port))
    demoted.disconnect()
    ledger.start()
    // The connections that there are still lead to the first, which refuses every write.
    await ledger.more(50, 'done')
    await settle(second.url)
  } finally {
    await second.stop()
  }
})
