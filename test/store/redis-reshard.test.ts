import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRedisStore } from '../../src/store/redis/store.ts'
import { Ledger } from '../support/operation-log.ts'
import { quiet } from '../support/log.ts'
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

test('while the slot of a workspace moves to another node: refused or right, never half of it', async () => {
  const store = await openRedisStore(cluster.url, { log: quiet })
  const ledger = new Ledger(store)
  ledger.start()
  await ledger.more(50, 'done')

  const slot = Number(await clients[0]!.call('CLUSTER', 'KEYSLOT', 'lk:{ledger}'))
  const counts = await Promise.all(clients.map((client) => client.call('CLUSTER', 'COUNTKEYSINSLOT', slot)))
  const from = clients[counts.findIndex((count) => Number(count) > 0)]!
  const to = clients.find((client) => client !== from)!
  const port = cluster.nodes[clients.indexOf(to)]!.port
  const [source, target] = await Promise.all([from, to].map((client) => client.call('CLUSTER', 'MYID') as Promise<string>))
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source!)
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target!)
  for (;;) {
    const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 7)) as string[]
    if (keys.length === 0) break
    await from.call('MIGRATE', '127.0.0.1', port, '', 0, 5000, 'KEYS', ...keys)
    await ledger.more(5, 'done', 'not done', 'unknown')
  }
  for (const client of [to, from, ...clients]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', target!)

  await ledger.more(50, 'done')
  await ledger.stop()
  expect(await ledger.problems(store)).toEqual([])
  console.log(`a slot moved under ${JSON.stringify(ledger.summary())}`)
  await store.close()
})
