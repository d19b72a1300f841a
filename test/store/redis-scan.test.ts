import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createRedisDriver, type Connection } from '../../src/store/redis/client.ts'
import type { Run } from '../../src/store/redis/pool.ts'
import { scanRecords } from '../../src/store/redis/scan.ts'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { change } from '../support/changes.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

let server: RedisServer
let store: RedisStore
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = createRedisDriver(server.url).getInstance() as Redis
  await client.connect()
  store = await openRedisStore(server.url, { log: quiet, derived: [] })
})
beforeEach(() => client.flushdb())
afterAll(async () => {
  await store.close()
  client.disconnect()
  await server.stop()
})

/** Scheduler a partition, and does something after the first command, which lists the keys. */
async function scanWith(between: () => Promise<unknown>): Promise<unknown[]> {
  let commands = 0
  const run: Run = async (command) => {
    const result = await command(client as Connection)
    if (++commands === 1) await between()
    return result
  }
  const found: unknown[] = []
  for await (const batch of scanRecords(run, 'lk:{w1}')) found.push(...batch)
  return found
}

test('a record that is removed after its key was read is left out of a scan, and one that Redis has evicted is not', async () => {
  const put = change({ put: { 'a:1': {}, 'a:2': {}, 'a:3': {} } })
  await store.commit('w1', put)
  const found = await scanWith(async () => {
    await store.commit('w1', change({ remove: ['a:2'] }))
    await client.del('lk:{w1}:r:a:3')
  })
  expect(found).toEqual([
    ['a:1', { value: {}, revision: put.revision }],
    ['a:3', null],
  ])
})

test('partitions, records and indexes of another prefix, and other keys, are not listed', async () => {
  await store.commit('w1', change({ put: { 'a:1': {} }, index: { i: { add: ['x 1'] } } }))
  const other = await openRedisStore(server.url, { log: quiet, derived: [], prefix: 'lk2' })
  await other.commit('w2', change({ put: { 'a:1': {} } }))
  await client.set('lk:{w3}:c:r1', '1')
  await client.set('lk:bytes:{w4}:r:a:1', '1')
  expect([await store.partitions(), await other.partitions()]).toEqual([['w1'], ['w2']])
  await client.set('lk:{w1}:r:b:1:2', 'r1 {}')
  await client.zadd('lk:{w1}:i:j:1', 0, 'x 1')
  const found: unknown[] = []
  for await (const batch of store.findDamage()) found.push(...batch)
  expect(found).toEqual(
    expect.arrayContaining([
      { partition: 'w1', record: 'b:1:2' },
      { partition: 'w1', index: 'j:1' },
    ]),
  )
  expect(found).toHaveLength(2)
  await other.close()
})

test('partitions are listed although a step of SCAN looks at fewer keys', async () => {
  const names = Array.from({ length: 30 }, (_, i) => `w${i}`)
  for (const name of names)
    await store.commit(name, change({ put: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a:${i}`, {}])) }))
  expect((await store.partitions()).toSorted()).toEqual(names.toSorted())
})
