import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import type { ReadReply } from '../../src/store/redis/codec.ts'
import { readInSteps } from '../../src/store/redis/long-reads.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { change, expectation, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'

const MEBIBYTE = 1024 * 1024
const LENGTH = 150_000
/** Records: four mebibytes in all. */
const COUNT = 28
const ids = Array.from({ length: COUNT }, (_, i) => String(i).padStart(2, '0'))
const card = (id: string, n: number) => ({ id, n, text: 'x'.repeat(LENGTH) })

let pool: Pool
let prefix: string
let store: RedisStore
beforeAll(async () => {
  pool = await Pool.open(sharedRedis(), 1, quiet)
})
afterAll(() => pool.close())
beforeEach(async () => {
  prefix = `long-${randomUUID()}`
  store = new RedisStore(pool, prefix)
  const put = Object.fromEntries(ids.map((id) => [`card:${id}`, card(id, 1)]))
  const add = ids.map((id) => `p ${id}`)
  await commit({ put: { ...put, 'board:1': { n: 1 } }, index: { cards: { add }, empty: {}, small: { add: ['x 1'] } } })
})

const commit = (part: Parameters<typeof change>[0]) => store.commit('w1', change(part))
const cards = { index: 'cards', limit: 100, fetch: 'card:' }
const request = (part: Partial<ReadRequest> = {}) => readRequest({ records: ['board:1'], ranges: [cards], counts: ['small'], ...part })
/** What a step read: how many bytes of records. */
const bytesOf = ([records, ranges, , rest]: ReadReply) =>
  [...records.map(([, text]) => text), ...ranges.flatMap(([, , texts]) => texts), ...rest].join('').length

/**
 * Reads in steps.
 * @param between called after each step, with its number
 */
async function read(wanted: ReadRequest, between: (step: number) => Promise<unknown> = async () => undefined) {
  const steps: { bytes: number; isLimited: boolean }[] = []
  const send = async (text: string) => {
    const reply = (await pool.run((client) => client.lkRead(`${prefix}:{w1}:n`, text))) as ReadReply | null
    if (reply !== null) steps.push({ bytes: bytesOf(reply), isLimited: JSON.parse(text).size === MEBIBYTE })
    await between(steps.length)
    return reply
  }
  return { snapshot: await readInSteps(send, wanted), steps }
}
const valuesOf = ({ snapshot }: Awaited<ReturnType<typeof read>>) => snapshot!.ranges[0]!.records.map((stored) => stored?.value['n'])

describe('a long read from Redis', () => {
  test('is done in steps of a mebibyte, and has everything', async () => {
    const { snapshot, steps } = await read(request())
    expect(snapshot!.ranges[0]!.records.map((stored) => stored!.value)).toEqual(ids.map((id) => card(id, 1)))
    expect(snapshot!.ranges[0]!.entries).toEqual(ids.map((id) => `p ${id}`))
    expect([snapshot!.records[0]!.stored?.value, snapshot!.counts]).toEqual([{ n: 1 }, [1]])
    expect(steps.length).toBe(4)
    for (const { bytes } of steps) expect(bytes).toBeLessThan(MEBIBYTE + LENGTH + 100)
  })

  test('that is short is one step', async () => {
    const { steps } = await read(request({ ranges: [{ ...cards, limit: 5 }] }))
    expect(steps).toHaveLength(1)
  })

  test('has several ranges, and those without records too', async () => {
    const ranges = [
      { index: 'small', limit: 9 },
      { ...cards, reverse: true },
      { index: 'empty', limit: 9, fetch: 'card:' },
      { index: 'small', limit: 9, fetch: 'board:' },
      { ...cards, limit: 8, after: 'p 03' },
    ]
    const { snapshot, steps } = await read(request({ ranges }))
    const found = snapshot!.ranges.map(({ entries, records }) => [
      entries.length,
      records.map((stored) => stored?.value['id'] ?? stored?.value),
    ])
    expect(found).toEqual([
      [1, []],
      [COUNT, ids.toReversed()],
      [0, []],
      [1, [{ n: 1 }]],
      [8, ids.slice(4, 12)],
    ])
    expect(snapshot!.ranges.map(({ revision }) => revision === null)).toEqual([false, false, true, false, false])
    expect(steps.length).toBeGreaterThan(4)
  })

  test('has null for an entry whose record is missing', async () => {
    await commit({ remove: ['card:20'] })
    expect(valuesOf(await read(request()))[20]).toBeUndefined()
  })

  test.each<[string, Parameters<typeof change>[0]]>([
    ['a record that it has read', { put: { 'card:00': { n: 2 }, 'card:27': { n: 2 } } }],
    ['a record of its second step', { put: { 'card:08': { n: 2 }, 'card:27': { n: 2 } } }],
    ['the last record of a step', { put: { 'card:06': { n: 2 }, 'card:27': { n: 2 } } }],
    ['its other record', { put: { 'board:1': { n: 2 }, 'card:27': { n: 2 } } }],
    ['its index', { put: { 'card:27': { n: 2 } }, index: { cards: { remove: ['p 05'] } } }],
    ['what it counts', { put: { 'card:27': { n: 2 } }, index: { small: { add: ['y 1'] } } }],
    ['only what it has not read', { put: { 'card:27': { n: 2 } } }],
  ])('is one snapshot although a commit between two steps changes %s', async (_what, part) => {
    const { snapshot } = await read(request(), async (step) => step === 2 && (await commit(part)))
    expect(snapshot).toEqual(await store.read('w1', request()))
    expect(snapshot!.ranges[0]!.records.at(-1)!.value).toEqual({ n: 2 })
  })

  test('is done in one step when commits interfere every time, so that it does not fail', async () => {
    let n = 1
    const { snapshot, steps } = await read(request(), () => commit({ put: { 'card:00': { n: ++n, text: 'x'.repeat(LENGTH) } } }))
    expect(snapshot!.ranges[0]!.records).toHaveLength(COUNT)
    expect(steps.map(({ isLimited }) => isLimited)).toEqual([true, true, true, false])
  })

  test('does not begin when its expectation is not met, and ends when it is not met any more', async () => {
    const expectRevision = (revision: string) => request({ expect: expectation({ records: new Map([['board:1', revision]]) }) })
    expect((await read(expectRevision('another'))).snapshot).toBeNull()
    const { revision } = (await store.read('w1', request()))!.records[0]!.stored!
    expect((await read(expectRevision(revision))).snapshot).not.toBeNull()
    const outcome = await read(expectRevision(revision), async (step) => step === 2 && (await commit({ put: { 'board:1': { n: 2 } } })))
    expect(outcome.snapshot).toBeNull()
  })

  test('does not go on in one step either when its expectation is not met', async () => {
    const wanted = request({ expect: expectation({ records: new Map([['board:1', (await boardRevision())!]]) }) })
    const { snapshot } = await read(wanted, async (step) => {
      await commit({ put: step < 3 ? { 'card:00': { n: step, text: 'x'.repeat(LENGTH) } } : { 'board:1': { n: 2 } } })
    })
    expect(snapshot).toBeNull()
  })
  const boardRevision = async () => (await store.read('w1', request()))!.records[0]!.stored?.revision
})
