import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReadReply } from '../../src/store/redis/long-reads.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { encodeChange, encodeRead } from '../../src/store/redis/script-arguments.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { change, expectation, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { seededRandom } from '../support/random.ts'

// Scripts read and write in batches: commands take a limited number of arguments.

let pool: Pool
let base: string
let store: RedisStore
beforeAll(async () => {
  pool = await Pool.open(sharedRedis(), 1, quiet)
})
afterAll(() => pool.close())
beforeEach(() => {
  const prefix = `batches-${randomUUID()}`
  base = `${prefix}:{w1}`
  store = new RedisStore(pool, prefix)
})

const commit = (part: Parameters<typeof change>[0]) => store.commit('w1', change(part))
const idsTo = (count: number) => Array.from({ length: count }, (_, i) => `a:${String(i).padStart(5, '0')}`)
const records = (keys: readonly string[], value: (i: number) => object = () => ({})) =>
  Object.fromEntries(keys.map((key, i) => [key, value(i)]))
const listed = () => pool.run((client) => client.zrange(`${base}:k`, 0, -1))
const stored = () => pool.run(async (client) => (await client.keys(`${base.replace(/[{}]/g, '?')}:r:*`)).length)

describe('a commit on Redis', () => {
  // More than Lua can pass to a command.
  const MANY = 9001
  const keys = idsTo(MANY)

  test('puts and removes any number of records', async () => {
    await commit({ put: records(keys) })
    expect([await listed(), await stored()]).toEqual([keys, MANY])
    await commit({ remove: keys.slice(1) })
    expect([await listed(), await stored()]).toEqual([keys.slice(0, 1), 1])
  })

  test('appends any number of records', async () => {
    const append = new Map([['i', { fetch: 'a:', values: keys.map((_key, n) => ({ n })) }]])
    await store.commit('w1', { ...change({}), append })
    const entries = await pool.run((client) => client.zrange(`${base}:i:i`, 0, -1))
    expect([entries.length, entries[0], entries.at(-1)]).toEqual([MANY, '0000000000000001', '0000000000009001'])
    expect(await listed()).toEqual(entries.map((entry) => `a:${entry}`))
    const read = await store.read('w1', readRequest({ records: ['a:0000000000000001', 'a:0000000000009001'] }))
    expect(read!.records.map(({ stored: one }) => one?.value)).toEqual([{ n: 0 }, { n: 9000 }])
  })

  test.each([0, 996, 997, 998, MANY - 1])('expects the absence of any number of records, and finds the one at %i', async (present) => {
    const absent = expectation({ records: new Map(keys.map((key) => [key, null])) })
    await commit({ put: { [keys[present]!]: {} } })
    expect(await commit({ put: { b: {} }, expect: absent })).toBe('conflict')
    await commit({ remove: [keys[present]!] })
    expect(await commit({ put: { b: {} }, expect: absent })).toBe('done')
  })

  test('expects the revisions of any number of records and indexes', async () => {
    const names = keys.slice(0, 1500)
    const made = change({ put: records(names), index: Object.fromEntries(names.map((name) => [name, { add: ['x'] }])) })
    await store.commit('w1', made)
    const revisions = names.map((name) => [name, made.revision] as const)
    const expected = (last: string) => ({ records: new Map([...revisions, ['a:01499', last]]), indexes: new Map(revisions) })
    expect(await commit({ expect: expected('another') })).toBe('conflict')
    expect(await commit({ expect: expected(made.revision) })).toBe('done')
    expect(await commit({ expect: { indexes: new Map([...revisions, ['a:01499', null]]) } })).toBe('conflict')
  })

  test('refuses empty keys and entries, which its arguments cannot have', () => {
    expect(() => encodeChange(base, change({ put: { '': {} } }))).toThrow(RangeError)
    expect(() => encodeChange(base, change({ index: { i: { add: [''], remove: ['x'] } } }))).toThrow(RangeError)
  })
})

describe('the revision of an index on Redis', () => {
  const revisionOf = (name: string) => pool.run((client) => client.hget(`${base}:v`, name))
  const appended = { append: new Map([['i', { fetch: 'a:', values: [{}] }]]) }

  test.each<[string, Parameters<typeof change>[0], object, boolean]>([
    ['an added entry', { index: { i: { add: ['4'] } } }, {}, true],
    ['several added entries', { index: { i: { add: ['3', '4'] } } }, {}, true],
    ['an entry that is there', { index: { i: { add: ['2'] } } }, {}, true],
    ['a removed entry', { index: { i: { remove: ['2'] } } }, {}, true],
    ['entries that are added and removed', { index: { i: { add: ['4'], remove: ['1', '2'] } } }, {}, true],
    ['an appended record', {}, appended, true],
    ['an appended record in place of all others', { index: { i: { remove: ['1', '2'] } } }, appended, true],
    ['a change of nothing', { index: { i: {} } }, {}, true],
    ['a change of another index', { index: { j: { add: ['2'] } } }, {}, false],
  ])('is that of the commit with %s', async (_what, part, more, isNew) => {
    await commit({ index: { i: { add: ['1', '2'] } } })
    const before = await revisionOf('i')
    const sent = { ...change(part), ...more }
    await store.commit('w1', sent)
    expect(await revisionOf('i')).toBe(isNew ? sent.revision : before)
  })

  test('is removed with its last entry', async () => {
    await commit({ index: { i: { add: ['w', 'x'] }, j: { add: ['x'] } } })
    await commit({ index: { i: { remove: ['w', 'x'] }, j: { remove: ['x'], add: ['y'] }, k: {} } })
    expect(await Promise.all(['i', 'j', 'k'].map(revisionOf))).toEqual([null, expect.any(String), null])
  })
})

test('a script reads records up to a size, which only the last one exceeds', async () => {
  const random = seededRandom(3)
  const lengths = Array.from({ length: 300 }, (_, i) => (i % 7 === 3 ? 0 : random(i % 50 === 9 ? 3000 : 60)))
  const present = idsTo(300).filter((_key, i) => lengths[i]! > 0)
  const put = Object.fromEntries(present.map((key) => [key, { text: 'x'.repeat(lengths[Number(key.slice(2))]!) }]))
  const made = change({ put, index: { i: { add: idsTo(300).map((key) => `p ${key.slice(2)}`) } } })
  await store.commit('w1', made)
  const range = { index: 'i', limit: 120, fetch: 'a:' }
  const request = readRequest({ ranges: [range, { ...range, limit: 90, reverse: true }] })
  const rest = idsTo(300).slice(100, 200)
  const keys = [idsTo(120), idsTo(300).toReversed().slice(0, 90), rest]
  const textOf = (key: string) => (put[key] === undefined ? null : `${made.revision} ${JSON.stringify(put[key])}`)
  for (const size of [1, 80, 999, 2000, 6000, 12_000, 20_000, undefined]) {
    const reply = (await pool.run((client) => client.lkRead(`${base}:n`, ...encodeRead(base, request, size, rest)))) as ReadReply
    let bytes = 0
    const expected = keys.map((some) => {
      const texts: (string | null)[] = []
      for (const key of some) {
        if (size !== undefined && bytes >= size) break
        texts.push(textOf(key))
        bytes += textOf(key)?.length ?? 0
      }
      return texts
    })
    expect([size, ...reply[2].map(([, , texts]) => texts), reply[4]]).toEqual([size, ...expected])
  }
})
