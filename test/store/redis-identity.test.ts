import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import type { Connection } from '../../src/store/redis/client.ts'
import { Identity } from '../../src/store/redis/identity.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { openRedisStore, RedisStore } from '../../src/store/redis/store.ts'
import { slotOf } from '../../src/store/redis/slots.ts'
import { expectation, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'
import { fakeCluster, poolOf } from '../support/redis-clients.ts'

const EMPTIED = { name: 'StorageUnavailable', message: 'Redis was emptied, or holds other data than at the start' }

/** What Redis says about its identity. */
let identity: string | null
/** The reply to the read. */
let reply: unknown
const get = vi.fn(async (_key: string) => identity)
/** The revision of an empty partition, or the identity. */
const getAny = async (key: string) => (key.endsWith(':n') ? null : get(key))
beforeEach(() => {
  identity = 'id-1'
  get.mockClear()
})

function storeWith(expected?: string | null): RedisStore {
  const client = { mget: async () => reply, lkRead: async () => reply, hmget: async () => [null], get: getAny }
  const pool = { runRead: async (run: (on: unknown) => Promise<unknown>) => run(client), probe: async () => undefined }
  const identity = expected === undefined ? undefined : new Identity('lk', new Map([['lk:id', expected]]))
  return new RedisStore(pool as unknown as Pool, 'lk', { derived: [], identity })
}
const keysRead = async (part: Partial<ReadRequest>, expected: string | null = 'id-1') =>
  (await storeWith(expected).read('w1', readRequest(part)))!.records.length

const plain = { records: ['a:1', 'a:2'] }
const listed = { ...plain, ranges: [{ index: 'i', limit: 1, fetch: 'b:' }] }
const script = (...texts: (string | null)[]) => [texts.map((text, i) => [`a:${i + 1}`, text]), [[null, [], []]], [], [], 'r1']

describe.each([
  ['records', plain, [null, null, null], ['r1', 'r1 {}', null]],
  ['records and a range', listed, script(null, null), script('r1 {}', null)],
])('a read of %s', (_what, request, absent, present) => {
  test('that finds none fails when Redis was emptied, or holds other data', async () => {
    reply = absent
    for (identity of [null, 'id-2']) await expect(keysRead(request)).rejects.toMatchObject(EMPTIED)
  })

  test('that finds none succeeds when Redis holds the same data', async () => {
    reply = absent
    expect(await keysRead(request)).toBe(2)
    expect(get).toHaveBeenCalledExactlyOnceWith('lk:id')
  })

  test('that finds a record does not ask for the identity', async () => {
    reply = present
    identity = 'id-2'
    expect(await keysRead(request)).toBe(2)
    expect(get).not.toHaveBeenCalled()
  })
})

test.each<[string, Partial<ReadRequest>, unknown]>([
  ['records', { records: new Map([['a:1', null]]) } as never, [null, null, null]],
  ['indexes', { indexes: new Map([['i', null]]) } as never, [null, null]],
])('a read that expects %s does not ask for the identity: an emptied Redis does not meet it', async (_what, expected, found) => {
  reply = found
  identity = 'id-2'
  expect(await keysRead({ records: ['a:1'], expect: expectation(expected as never) })).toBe(1)
})

test('a read without records does not ask for the identity', async () => {
  reply = script()
  expect(await keysRead({ ranges: listed.ranges })).toBe(0)
  expect(get).not.toHaveBeenCalled()
})

test('a store without a known identity does not check it', async () => {
  reply = [null, null, null]
  await storeWith().read('w1', readRequest(plain))
  await storeWith().ready()
  expect(get).not.toHaveBeenCalled()
})

test('a store on a Redis that was emptied is not ready', async () => {
  await storeWith('id-1').ready()
  identity = null
  await expect(storeWith('id-1').ready()).rejects.toMatchObject(EMPTIED)
})

test('the identity of a Redis is chosen once, and all stores on it have the same', async () => {
  const prefix = `identity-${Math.random()}`
  const pool = await Pool.open(sharedRedis(), 1, quiet)
  const stores = [await openRedisStore(sharedRedis(), { log: quiet, derived: [], prefix })]
  const chosen = await pool.run((client) => client.get(`${prefix}:id`))
  expect(chosen).toMatch(/^[0-9a-f-]{36}$/)
  stores.push(await openRedisStore(sharedRedis(), { log: quiet, derived: [], prefix }))
  expect(await pool.run((client) => client.get(`${prefix}:id`))).toBe(chosen)
  for (const store of stores) expect((await store.read('w1', readRequest(plain)))!.records).toHaveLength(2)
  await pool.run((client) => client.set(`${prefix}:id`, 'another'))
  for (const store of stores) await expect(async () => store.read('w1', readRequest(plain))).rejects.toMatchObject(EMPTIED)
  for (const store of stores) await store.close()
  pool.close()
})

describe('the identity of a cluster', () => {
  // The first master has the slots below 5461, the second one the others.
  const BORDER = 5461
  const slots = Array.from({ length: 16_384 }, (_, slot) => [slot < BORDER ? 'first' : 'second'])
  const slotOfKey = (key: string) => slotOf(/\{(.*)\}/.exec(key)![1]!)
  const stored = new Map<string, string>()
  const asked: string[] = []
  const client = Object.assign(fakeCluster(), {
    slots,
    get: async (key: string) => {
      asked.push(key)
      return stored.get(key) ?? null
    },
    set: async (key: string, text: string) => void stored.set(key, text),
  })
  const run = async <T>(command: (on: Connection) => Promise<T>): Promise<T> => command(client as never)
  beforeEach(() => {
    stored.clear()
    asked.length = 0
  })
  const open = async () => {
    const identity = await Identity.open(poolOf([client]), 'lk')
    asked.length = 0
    return identity
  }

  test('is one text for each of 64 ranges of slots', async () => {
    await open()
    const ranges = [...stored.keys()].map((key) => Math.floor(slotOfKey(key) / 256))
    expect(ranges.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 64 }, (_, i) => i))
    expect(new Set(stored.values()).size).toBe(64)
    expect([...stored.keys()].every((key) => key.startsWith('lk:id:{'))).toBe(true)
  })

  test('is checked at the master of the partition, with one key, also if a range has two masters', async () => {
    const identity = await open()
    const partitions = Array.from({ length: 2000 }, (_, i) => `wsp_${i}`)
    for (const partition of partitions) await identity.check(run, partition)
    expect(asked).toHaveLength(partitions.length)
    for (const [i, key] of asked.entries()) expect(slotOfKey(key) < BORDER).toBe(slotOf(partitions[i]!) < BORDER)
    const shared = partitions.filter((partition) => Math.floor(slotOf(partition) / 256) === Math.floor(BORDER / 256))
    expect(new Set(shared.map((partition) => slotOf(partition) < BORDER)).size).toBe(2)
  })

  test('is wrong when one master was emptied, for its partitions and for readiness', async () => {
    const identity = await open()
    await identity.checkAll(run)
    for (const key of stored.keys()) if (slotOfKey(key) < BORDER) stored.delete(key)
    const outcome = (partition: string) =>
      identity.check(run, partition).then(
        () => 'same',
        (error: Error) => error.name,
      )
    for (let i = 0; i < 50; i++) expect(await outcome(`w${i}`)).toBe(slotOf(`w${i}`) < BORDER ? 'StorageUnavailable' : 'same')
    await expect(identity.checkAll(run)).rejects.toMatchObject(EMPTIED)
  })

  test('is checked with the key of the range while no master is known', async () => {
    const identity = await open()
    Object.assign(client, { slots: [] })
    await identity.check(run, 'w1')
    expect(Math.floor(slotOfKey(asked[0]!) / 256)).toBe(Math.floor(slotOf('w1') / 256))
    Object.assign(client, { slots })
  })
})
