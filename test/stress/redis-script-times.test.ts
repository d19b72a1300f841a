import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import type { Index } from '../../src/store/indexes.ts'
import { openRedisStore, type RedisStore } from '../../src/store/redis/store.ts'
import { transact } from '../../src/store/transact.ts'
import { change, readRequest } from '../support/changes.ts'
import { effort } from '../support/effort.ts'
import { quiet } from '../support/log.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

// No script may block Redis for long, at the limits of the service. How long a script takes depends on the machine and its load, so what is
// asserted is its time of the processor as a multiple of the time of a fixed script beside it, and in how many steps long work is done.

/** Decodes, encodes and writes 100 records of 50 kB: as much as the largest commit, without anything that the service adds. */
const YARDSTICK = `
  local text = cjson.encode({ string.rep('x', 50000) })
  for i = 1, 100 do redis.call('SET', 'yardstick:' .. i, cjson.encode(cjson.decode(text))) end`
/** What a script may cost on average, as a multiple of the yardstick. */
const MAX = 4
/** How often the yardstick is run in each repetition. */
const YARDSTICKS = 3
/** The least of several counts: a loaded machine makes some of them dearer. */
const REPETITIONS = effort(8)
/** A card with a description of the greatest length, in characters of three bytes. */
const longest = '字'.repeat(limits.cardDescription)
const short = 'x'.repeat(300)
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => String(i).padStart(5, '0'))

let server: RedisServer
let operator: Redis
let store: RedisStore
beforeAll(async () => {
  server = await startRedis()
  operator = new Redis(server.port, '127.0.0.1')
  store = await openRedisStore(server.url, { log: quiet, derived: createDerivations() })
})
afterAll(async () => {
  await store.close()
  operator.disconnect()
  await server.stop()
})

/** Reads in a process that has read nothing before: what it knows, it does not read with scripts. */
async function readAnew<T>(read: (store: RedisStore) => Promise<T>): Promise<T> {
  const other = await openRedisStore(server.url, { log: quiet, derived: [] })
  return read(other).finally(() => other.close())
}

/** How many scripts Redis has run, and the time of the processor that it has used, in milliseconds. */
async function usage(): Promise<{ scripts: number; cpu: number }> {
  const info = await operator.info('all')
  const sum = (pattern: RegExp) => [...info.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0)
  // Redis 6 tells only the time of all threads.
  const cpu = sum(/^used_cpu_(?:user|sys)_main_thread:(\S+)/gm) || sum(/^used_cpu_(?:user|sys):(\S+)/gm)
  return { scripts: sum(/^cmdstat_eval\w*:calls=(\d+)/gm), cpu: 1000 * cpu }
}

/** @param minScripts the least number of scripts for the work */
async function expectShort(what: string, minScripts: number, work: (round: number) => Promise<unknown>): Promise<void> {
  const averages: number[] = []
  const yardsticks: number[] = []
  for (let i = 0; i < REPETITIONS; i++) {
    const before = await usage()
    for (let n = 0; n < YARDSTICKS; n++) await operator.eval(YARDSTICK, 0)
    const between = await usage()
    await work(i)
    const after = await usage()
    const scripts = after.scripts - between.scripts
    expect(scripts).toBeGreaterThanOrEqual(minScripts)
    averages.push((after.cpu - between.cpu) / scripts)
    yardsticks.push((between.cpu - before.cpu) / YARDSTICKS)
  }
  const ratio = Math.min(...averages) / Math.min(...yardsticks)
  console.log(`${what}: ${ratio.toFixed(2)} times the yardstick of ${Math.min(...yardsticks).toFixed(2)} ms CPU`)
  expect(ratio).toBeLessThan(MAX)
}

/** Fills a partition with cards. */
async function fill(partition: string, count: number, text: string): Promise<void> {
  const ids = idsOf(count)
  for (let i = 0; i < count; i += 20) {
    const some = ids.slice(i, i + 20)
    const put = Object.fromEntries(some.map((id) => [`card:${id}`, { id, text }]))
    await store.commit(partition, change({ put, index: { cards: { add: some.map((id) => `p ${id}`) } } }))
  }
}
const cards: Index<{ id: string }> = { name: 'cards', fetch: 'card:' } as Index<{ id: string }>

describe('no script takes long in Redis', () => {
  beforeAll(async () => {
    await fill('long', 300, longest)
    await fill('many', limits.cardsPerBoard, short)
  })

  test('when it reads a page of the longest cards', () =>
    expectShort(`a page of ${limits.pageSize.max} cards of ${longest.length} characters`, 14, () =>
      readAnew((other) =>
        other.read('long', readRequest({ ranges: [{ index: 'cards', limit: limits.pageSize.max + 1, fetch: 'card:' }] })),
      ),
    ))

  test('when it reads a whole board, page by page', () =>
    expectShort(`all ${limits.cardsPerBoard} cards of a board`, 5, () =>
      readAnew((other) => transact(other, 'many', systemRandom, (tx) => tx.all(cards))),
    ))

  test('when a commit relies on all cards of a board', async () => {
    const { records, entries } = (await store.read('many', readRequest({ ranges: [{ index: 'cards', limit: 5000, fetch: 'card:' }] })))!
      .ranges[0]!
    const relied = new Map(entries.map((entry, i) => [`card:${entry.slice(2)}`, records[i]!.revision]))
    await expectShort('a commit that relies on 5000 records', 1, () =>
      store.commit('many', change({ put: { 'board:1': {} }, expect: { records: relied } })),
    )
  })

  test('when a commit changes as many records as a commit may, with long descriptions', () => {
    const text = 'x'.repeat(limits.cardDescription)
    return expectShort(`a commit of ${limits.batch} cards of ${text.length} characters`, 1, (round) =>
      store.commit('changed', change({ put: Object.fromEntries(idsOf(limits.batch).map((id) => [`card:${id}`, { id, text, round }])) })),
    )
  })

  test.each(['long', 'many'])('when a dump reads the workspace "%s", while commits save what they replace', (partition) =>
    expectShort(`a dump of "${partition}"`, partition === 'long' ? 42 : 10, async (round) => {
      let batches = 0
      const text = partition === 'long' ? longest : short
      for await (const batch of store.dump(partition)) {
        expect(batch.length).toBeGreaterThan(0)
        const ids = idsOf(partition === 'long' ? 300 : limits.cardsPerBoard).slice(-20)
        if (batches++ % 10 === 0)
          await store.commit(partition, change({ put: Object.fromEntries(ids.map((id) => [`card:${id}`, { id, text, round }])) }))
      }
    }),
  )
})
