import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { openRedisStore, RedisStore } from '../../src/store/redis/store.ts'
import { expectation, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'

const EMPTIED = { name: 'StorageUnavailable', message: 'Redis was emptied, or holds other data than at the start' }

/** What Redis says about its identity. */
let identity: string | null
/** The reply to the read. */
let reply: unknown
const get = vi.fn(async (_key: string) => identity)
beforeEach(() => {
  identity = 'id-1'
  get.mockClear()
})

function storeWith(expected?: string | null): RedisStore {
  const client = { mget: async () => reply, lkRead: async () => reply, get }
  const pool = { runRead: async (run: (on: unknown) => Promise<unknown>) => run(client), probe: async () => undefined }
  return new RedisStore(pool as unknown as Pool, 'lk', undefined, expected)
}
const keysRead = async (part: Partial<ReadRequest>, expected: string | null = 'id-1') =>
  (await storeWith(expected).read('w1', readRequest(part)))!.records.length

const plain = { records: ['a:1', 'a:2'] }
const counted = { ...plain, counts: ['i'] }
const script = (...texts: (string | null)[]) => [texts.map((text, i) => [`a:${i + 1}`, text]), [], [0]]

describe.each([
  ['records', plain, [null, null], ['r1 {}', null]],
  ['records and a count', counted, script(null, null), script('r1 {}', null)],
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
  ['records', { records: new Map([['a:1', '']]) } as never, script(null)],
  ['indexes', { indexes: new Map([['i', null]]) } as never, script(null)],
])('a read that expects %s does not ask for the identity: an emptied Redis does not meet it', async (_what, expected, found) => {
  reply = found
  identity = 'id-2'
  expect(await keysRead({ records: ['a:1'], expect: expectation(expected as never) })).toBe(1)
})

test('a read without records does not ask for the identity', async () => {
  reply = script()
  expect(await keysRead({ counts: ['i'] })).toBe(0)
  expect(get).not.toHaveBeenCalled()
})

test('a store without a known identity does not check it', async () => {
  reply = [null, null]
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
  const stores = [await openRedisStore(sharedRedis(), { log: quiet, prefix })]
  const chosen = await pool.run((client) => client.get(`${prefix}:id`))
  expect(chosen).toMatch(/^[0-9a-f-]{36}$/)
  stores.push(await openRedisStore(sharedRedis(), { log: quiet, prefix }))
  expect(await pool.run((client) => client.get(`${prefix}:id`))).toBe(chosen)
  for (const store of stores) expect((await store.read('w1', readRequest(plain)))!.records).toHaveLength(2)
  await pool.run((client) => client.set(`${prefix}:id`, 'another'))
  for (const store of stores) await expect(store.read('w1', readRequest(plain))).rejects.toMatchObject(EMPTIED)
  for (const store of stores) await store.close()
  pool.close()
})
