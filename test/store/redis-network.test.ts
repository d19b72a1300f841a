import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { OperationLog } from '../support/operation-log.ts'
import { TcpProxy } from '../support/proxy.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

let server: RedisServer
let proxy: TcpProxy
let store: RedisStore
let operations: OperationLog

beforeEach(async () => {
  server = await startRedis()
  proxy = await TcpProxy.open(server.port)
  store = await openRedisStore(proxy.url, { log: quiet, connections: 6 })
  operations = new OperationLog(store)
})
afterEach(async ({ task }) => {
  console.log(`${task.name}: ${JSON.stringify(operations.summary())}, ${proxy.cuts} connections cut`)
  await store.close()
  await proxy.close()
  await server.stop()
})

/** Stops the work and compares its outcomes with the content of the server. */
async function verify(serverUrl = server.url): Promise<void> {
  await operations.stop()
  const direct = await openRedisStore(serverUrl, { log: quiet })
  expect(await operations.findViolations(direct)).toEqual([])
  await direct.close()
}

describe('a network to Redis that fails while clients write', () => {
  test('no outcome is wrong when connections are cut after a random number of bytes', async () => {
    operations.start()
    await operations.more(20, 'done')
    let remainingCuts = effort(100)
    await new Promise<void>((resolve) => {
      // Mostly more than the few thousand bytes at the beginning of each connection.
      proxy.bytes = () => Math.floor(1 + Math.random() * (Math.random() < 0.1 ? 6_000 : 40_000))
      proxy.onCut = () => void (remainingCuts-- === 0 && resolve())
      proxy.cut()
    })
    proxy.bytes = () => Infinity
    await operations.more(50, 'done')
    await verify()
  })

  test('commits are not done while connections are refused, and succeed afterwards', async () => {
    operations.start()
    for (let round = 0; round < effort(3); round++) {
      await operations.more(20, 'done')
      proxy.refuses = true
      proxy.cut()
      await operations.more(20, 'not done')
      proxy.refuses = false
      await operations.more(20, 'done')
    }
    await verify()
  })

  test.each(['to', 'from'] as const)('connections that silently lose all data %s the server are replaced', async (direction) => {
    operations.start()
    await operations.more(20, 'done')
    proxy.hold(direction)
    // Like a machine that vanished: nothing closes the connections. The store must open new ones by itself.
    await operations.more(100, 'done')
    await store.ready()
    await proxy.release()
    await operations.more(20, 'done')
    await verify()
  })

  test('after a failover to another server at the same address, commits go to the new master', async () => {
    const first = server
    await operations.increment('before')
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
      operations.start()
      // The existing connections still lead to the first server, which refuses every write.
      await operations.more(50, 'done')
      await verify(second.url)
    } finally {
      await second.stop()
    }
  })
})
