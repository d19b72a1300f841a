import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Change, Value } from '../../src/store/port.ts'
import { lastRevisionOf } from '../../src/store/redis/last-commits.ts'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { change } from '../support/changes.ts'
import { runnerOnRedis, sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'
import { seededRandom } from '../support/random.ts'

const FORGOTTEN = { name: 'StorageUnavailable', message: expect.stringContaining('forgotten the dump') }
/** More than two batches. */
const MANY = 1200
const TTL = 60_000

const run = runnerOnRedis()
let prefix: string
let store: RedisStore
beforeEach(async () => {
  prefix = `dump-${randomUUID()}`
  store = await openRedisStore(sharedRedis(), { log: quiet, derived: [], prefix })
})
afterEach(() => store.close())

type Batch = (readonly [string, Value])[]
type Dump = AsyncGenerator<Batch>
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
const sorted = (state: ReadonlyMap<string, Value>) => [...state].toSorted(([one], [other]) => byBytes(one, other))
const rest = async (dump: Dump): Promise<Batch> => {
  const records: Batch = []
  for await (const batch of dump) records.push(...batch)
  return records
}
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k:${String(i).padStart(5, '0')}`, { n: 1 }]))
const commit = (part: Parameters<typeof change>[0]) => store.commit('w1', change(part))
/** The keys that dumps have written. */
const traces = () => run((client) => client.keys(`${prefix}:{w1}:d*`))
const savedKey = async () => (await traces()).find((key) => !key.endsWith(':d'))!

describe('a dump of Redis while others write', () => {
  /** Random changes of random keys, and the state after each. */
  class Writer {
    state = new Map<string, Value>()
    readonly #random = seededRandom(7)
    #n = 0

    async write(): Promise<void> {
      const next = new Map(this.state)
      const put: Record<string, Value> = {}
      for (let i = 0; i < 20; i++) put[this.#key()] = { n: this.#n++ }
      const remove = Array.from({ length: 8 }, () => this.#key()).filter((key) => put[key] === undefined)
      for (const [key, value] of Object.entries(put)) next.set(key, value)
      for (const key of remove) next.delete(key)
      expect(await commit({ put, remove })).toBe('done')
      this.state = next
    }

    // The order by bytes differs from a language's order and from the order of UTF-16.
    #key(): string {
      const start = ['a', 'A', 'b', 'ab', 'a:', 'a b', 'a-', 'é', 'z', '～', '🦊'][this.#random(11)]!
      return start + String(this.#random(400))
    }
  }

  test('has the records of the moment when it began, in the order of their keys, however many dumps there are', async () => {
    const writer = new Writer()
    for (let i = 0; i < 150; i++) await writer.write()
    const dumps: { dump: Dump; expected: Batch; found: Batch }[] = []
    for (let round = 0; round < 40; round++) {
      await writer.write()
      // Dumps of different speeds.
      for (const { dump, found } of dumps.filter((_, i) => round % (3 * i + 3) === 0)) found.push(...((await dump.next()).value ?? []))
      if (round % 8 > 0) continue
      const dump = store.dump('w1')
      dumps.push({ dump, expected: sorted(writer.state), found: [...(await dump.next()).value] })
    }
    for (const { dump, expected, found } of dumps) {
      expect(expected.length).toBeGreaterThan(MANY)
      expect([...found, ...(await rest(dump))]).toEqual(expected)
    }
  })
})

describe('a dump of Redis', () => {
  test('is read in batches of at most 500 records', async () => {
    await commit({ put: numbered(1001) })
    const sizes: number[] = []
    for await (const batch of store.dump('w1')) sizes.push(batch.length)
    expect(sizes).toEqual([500, 500, 1])
  })

  test('is read in batches of a mebibyte, so that no script copies more', async () => {
    const text = 'x'.repeat(300_000)
    const put = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k:${i}`, { text }]))
    await commit({ put })
    const dump = store.dump('w1')
    const sizes = [(await dump.next()).value.length]
    // These are then read from what is saved.
    await commit({ remove: Object.keys(put) })
    for await (const batch of dump) sizes.push(batch.length)
    expect(sizes).toEqual([4, 4, 2])
  })

  test('leaves nothing behind in Redis, also when its reader stops early', async () => {
    await commit({ put: numbered(MANY) })
    await rest(store.dump('w1'))
    const dump = store.dump('w1')
    await dump.next()
    await dump.return(undefined)
    while ((await traces()).length > 0) await run((client) => client.ping())
  })

  test('of a process that has died expires, and commits save nothing for it from then on', async () => {
    await commit({ put: numbered(MANY) })
    await store.dump('w1').next()
    const keys = await traces()
    expect(keys).toHaveLength(2)
    for (const key of keys) {
      const ttl = await run((client) => client.pttl(key))
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(TTL)
    }
    await run(async (client) => client.del(await savedKey()))
    await commit({ put: { 'k:01199': { n: 2 } } })
    expect(await traces()).toEqual([])
  })

  test('needs no memory for the records that it has read already', async () => {
    await commit({ put: numbered(MANY) })
    const dump = store.dump('w1')
    await dump.next()
    const saved = await savedKey()
    const count = () => run((client) => client.zcard(saved))
    const changeAll = () => commit({ put: Object.fromEntries(Object.keys(numbered(MANY)).map((key) => [key, { n: 2 }])) })
    await changeAll()
    expect(await count()).toBe(MANY + 1)
    await dump.next()
    await changeAll()
    expect(await count()).toBe(MANY - 500 + 1)
    expect((await rest(dump)).map(([, value]) => value['n'])).toEqual(Array.from({ length: MANY - 1000 }, () => 1))
  })

  test.each<[string, (saved: string) => Promise<unknown>]>([
    ['what commits have replaced', (saved) => run((client) => client.del(saved))],
    ['the list of dumps', (saved) => run((client) => client.del(saved.replace(/d:[^:]*$/, 'd')))],
    ['both', (saved) => run((client) => client.del(saved, saved.replace(/d:[^:]*$/, 'd')))],
  ])('fails when Redis has lost %s, and does not yield a wrong state', async (_what, lose) => {
    await commit({ put: numbered(MANY) })
    const dump = store.dump('w1')
    await dump.next()
    await lose(await savedKey())
    const others = store.dump('w1')
    await others.next()
    await commit({ put: { 'k:01199': { n: 2 } } })
    await expect(dump.next()).rejects.toMatchObject(FORGOTTEN)
    expect(await rest(others)).toHaveLength(MANY - 500)
  })

  test('fails when an entry that a commit has replaced is gone with the mark of its dump', async () => {
    await commit({ put: numbered(MANY) })
    const dump = store.dump('w1')
    await dump.next()
    const saved = await savedKey()
    await run((client) => client.zrem(saved, ''))
    await expect(dump.next()).rejects.toMatchObject(FORGOTTEN)
  })

  test('fails when a record is missing that Redis lists', async () => {
    await commit({ put: numbered(3) })
    await run((client) => client.del(`${prefix}:{w1}:r:k:00001`))
    await expect(rest(store.dump('w1'))).rejects.toMatchObject({ message: 'Redis refused: ERR a record is missing' })
  })
})

describe('the scripts of a dump', () => {
  const begin = (id: string) => run((client) => client.lkBeginDump(`${prefix}:{w1}:n`, id, TTL))
  const read = async (id: string, after: string) => {
    const reply = await run((client) => client.lkDump(`${prefix}:{w1}:n`, id, after, TTL, 2, 1000))
    return Array.isArray(reply) ? [lastRevisionOf(reply[0]), ...reply.slice(1)] : reply
  }
  const update = (n: number): Promise<string> => {
    const values = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((key) => [key, { n }]))
    return store.commit('w1', { ...change({ put: values }), revision: `r${n}` } satisfies Change)
  }
  beforeEach(() => update(1))

  test('return the same batch when it is asked for twice, although a commit came in between', async () => {
    await begin('x')
    expect(await read('x', '')).toEqual(['r1', 'b', 0, ['a', 'r1 {"n":1}', 'b', 'r1 {"n":1}']])
    await update(2)
    const second = ['r2', 'd', 0, ['c', 'r1 {"n":1}', 'd', 'r1 {"n":1}']]
    expect(await read('x', 'b')).toEqual(second)
    await update(3)
    // An attempt of the first batch arrives late.
    await read('x', '')
    await update(4)
    expect(await read('x', 'b')).toEqual(['r4', ...second.slice(1)])
    expect(await read('x', 'd')).toEqual(['r4', 'e', 1, ['e', 'r1 {"n":1}']])
  })

  test('do not forget the saved records when the first script arrives twice', async () => {
    await begin('x')
    await update(2)
    await begin('x')
    expect(await read('x', '')).toEqual(['r2', 'b', 0, ['a', 'r1 {"n":1}', 'b', 'r1 {"n":1}']])
  })

  test('keep the saved records for another minute with each batch', async () => {
    await begin('x')
    const keys = ['d', 'd:x'].map((name) => `${prefix}:{w1}:${name}`)
    for (const key of keys) await run((client) => client.pexpire(key, 30_000))
    await read('x', '')
    for (const key of keys) expect(await run((client) => client.pttl(key))).toBeGreaterThan(30_000)
  })

  test('pass over records that were created since', async () => {
    await begin('x')
    await commit({ put: Object.fromEntries(['0', 'a0', 'a1', 'a2', 'b0', 'f'].map((key) => [key, {}])) })
    const found: string[] = []
    for (let [after, done] = ['', 0]; done === 0;) {
      const [, last, isLast, entries] = (await read('x', after)) as [string, string, number, string[]]
      found.push(...entries.filter((_text, i) => i % 2 === 0))
      after = last
      done = isLast
    }
    expect(found).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})
