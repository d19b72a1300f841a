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
})
