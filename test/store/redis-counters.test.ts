import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SharedCounters } from '../../src/store/counters.ts'
import { openCounters } from '../../src/store/open.ts'
import { createRedisDriver } from '../../src/store/redis/client.ts'
import { openRedisCounters } from '../../src/store/redis/counters.ts'
import { quiet } from '../support/log.ts'
import { sharedRedis } from '../support/redis-driver.ts'

const prefix = `counters${Math.random().toString(36).slice(2)}`
let one: SharedCounters
let two: SharedCounters
let client: Redis
beforeAll(async () => {
  one = await openRedisCounters(sharedRedis(), quiet, prefix)
  two = await openRedisCounters(sharedRedis(), quiet, prefix)
  client = createRedisDriver(sharedRedis()).getInstance() as Redis
  await client.connect()
})
afterAll(async () => {
  for (const counters of [one, two]) await counters.close()
  await client.del(`${prefix}:a`, `${prefix}:b`)
  client.disconnect()
})

test('two processes add to the same counter, and it is forgotten after its time', async () => {
  expect([await one.add('a', 3, 120), await two.add('a', 2, 120), await one.add('b', 1, 120)]).toEqual([3, 5, 1])
  const ttl = await client.pttl(`${prefix}:a`)
  expect(ttl).toBeGreaterThan(100_000)
  expect(ttl).toBeLessThanOrEqual(120_000)
})

test('counters that cannot be reached return undefined, and do not fail', async () => {
  const closed = await openRedisCounters(sharedRedis(), quiet, prefix)
  await closed.close()
  expect(await closed.add('a', 1, 120)).toBeUndefined()
})

test('a Redis that cannot be reached is an error at the start', async () => {
  await expect(openRedisCounters('redis://127.0.0.1:1', quiet)).rejects.toMatchObject({ name: 'StorageUnavailable' })
})

test('storage that only one process can use has no shared counters', async () => {
  expect([await openCounters('memory', quiet), await openCounters('fs:/data', quiet)]).toEqual([undefined, undefined])
})
