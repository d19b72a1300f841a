import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { quiet } from '../support/log.ts'
import { OperationLog, PARTITION } from '../support/operation-log.ts'
import { startCluster, type RedisCluster } from '../support/redis-cluster.ts'

let cluster: RedisCluster
let clients: Redis[]
beforeAll(async () => {
  cluster = await startCluster()
  clients = cluster.nodes.map(({ port }) => new Redis(port, '127.0.0.1'))
})
afterAll(async () => {
  for (const client of clients) client.disconnect()
  await cluster.stop()
})

test('while a cluster migrates the slot of a partition, each commit is refused or done in whole', async () => {
  const store = await openRedisStore(cluster.url, { log: quiet, derived: [] })
  const operations = new OperationLog(store)
  operations.start()
  await operations.more(50, 'done')

  const slot = Number(await clients[0]!.call('CLUSTER', 'KEYSLOT', `lk:{${PARTITION}}`))
  const counts = await Promise.all(clients.map((client) => client.call('CLUSTER', 'COUNTKEYSINSLOT', slot)))
  const source = clients[counts.findIndex((count) => Number(count) > 0)]!
  const target = clients.find((client) => client !== source)!
  const targetPort = cluster.nodes[clients.indexOf(target)]!.port
  const [sourceId, targetId] = await Promise.all([source, target].map((client) => client.call('CLUSTER', 'MYID') as Promise<string>))
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId!)
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId!)
  for (;;) {
    const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 7)) as string[]
    if (keys.length === 0) break
    await source.call('MIGRATE', '127.0.0.1', targetPort, '', 0, 5000, 'KEYS', ...keys)
    await operations.more(5, 'done', 'not done', 'unknown')
  }
  for (const client of [target, source, ...clients]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId!)

  await operations.more(50, 'done')
  await operations.stop()
  expect(await operations.findViolations(store)).toEqual([])
  console.log(`slot migration: ${JSON.stringify(operations.summary())}`)
  await store.close()
})
