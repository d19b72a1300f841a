import { randomUUID } from 'node:crypto'
import { setImmediate as nextRound } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import { decodeStored, type ReadReply } from '../../src/store/redis/codec.ts'
import { readInSteps } from '../../src/store/redis/long-reads.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { change, expectation, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/redis-driver.ts'
import { quiet } from '../support/log.ts'

const KIBIBYTE = 1024
/** How many bytes of records the first step reads, the others, and one that reads partial ranges at once. */
const [FIRST, STEP, PAGE] = [128 * KIBIBYTE, 256 * KIBIBYTE, 1024 * KIBIBYTE]
const LENGTH = 60_000
/** Records: two in the first step, and four in each of the seven others but the last. */
const COUNT = 28
const STEPS = 8
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
  store = new RedisStore(pool, prefix, { derived: [] })
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
  const steps: { bytes: number; sizes: readonly (number | undefined)[] }[] = []
  const send = async (text: string) => {
    const reply = (await pool.run((client) => client.lkRead(`${prefix}:{w1}:n`, text))) as ReadReply | null
    const { ranges, size } = JSON.parse(text) as { ranges: { size?: number }[]; size?: number }
    if (reply !== null) steps.push({ bytes: bytesOf(reply), sizes: size === undefined ? ranges.map((range) => range.size) : [size] })
    await between(steps.length)
    return reply
  }
  return { snapshot: await readInSteps(send, wanted, (_key, text) => decodeStored(text)), steps }
}
const valuesOf = ({ snapshot }: Awaited<ReturnType<typeof read>>) => snapshot!.ranges[0]!.records.map((stored) => stored?.value['n'])

describe('a long read from Redis', () => {
  test('is done in steps that each read little, and has everything', async () => {
    const { snapshot, steps } = await read(request())
    expect(snapshot!.ranges[0]!.records.map((stored) => stored!.value)).toEqual(ids.map((id) => card(id, 1)))
    expect(snapshot!.ranges[0]!.entries).toEqual(ids.map((id) => `p ${id}`))
    expect({ value: snapshot!.records[0]!.stored?.value, counts: snapshot!.counts }).toEqual({ value: { n: 1 }, counts: [1] })
    expect(steps.map(({ bytes }) => Math.floor(bytes / LENGTH))).toEqual([2, 4, 4, 4, 4, 4, 4, 2])
    expect(steps.map(({ sizes }) => sizes)).toEqual([[FIRST], ...Array.from({ length: STEPS - 1 }, () => [STEP])])
  })

  test('reads a record that is longer than a step in a step of its own, and not in the first one', async () => {
    await commit({ put: { 'card:00': { n: 2, text: 'x'.repeat(STEP) }, 'card:03': { n: 2, text: 'x'.repeat(STEP) } } })
    const outcome = await read(request({ ranges: [{ ...cards, limit: 5 }] }))
    expect(valuesOf(outcome)).toEqual([2, 1, 1, 2, 1])
    expect(outcome.steps.map(({ bytes }) => Math.floor(bytes / LENGTH))).toEqual([0, 4, 2, 4, 1])
  })

  test('leaves out what follows a record that does not fit, although it would fit', async () => {
    await commit({ put: { 'card:01': { n: 2, text: 'x'.repeat(FIRST) } }, remove: ['card:02'] })
    const outcome = await read(
      request({
        ranges: [
          { ...cards, limit: 4 },
          { index: 'small', limit: 9, fetch: 'board:' },
        ],
      }),
    )
    expect(valuesOf(outcome)).toEqual([1, 2, undefined, 1])
    expect(outcome.snapshot!.ranges[1]!.records.map((stored) => stored?.value)).toEqual([{ n: 1 }])
    expect(outcome.steps.map(({ bytes }) => Math.floor(bytes / LENGTH))).toEqual([1, 3])
  })

  test('that is short is one step', async () => {
    const { steps } = await read(request({ ranges: [{ ...cards, limit: 2 }] }))
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
    ['a record of its second step', { put: { 'card:03': { n: 2 }, 'card:27': { n: 2 } } }],
    ['the last record of the first step', { put: { 'card:01': { n: 2 }, 'card:27': { n: 2 } } }],
    ['the last record of its second step', { put: { 'card:05': { n: 2 }, 'card:27': { n: 2 } } }],
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
    expect(steps.map(({ sizes }) => sizes)).toEqual([[FIRST], [FIRST], [FIRST], [undefined]])
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

  describe('calls a function', () => {
    test('before each step but the first, and not if it is short', async () => {
      const events: string[] = []
      const beforeStep = async () => {
        await nextRound()
        events.push('before')
      }
      await read(request({ beforeStep }), async () => void events.push('step'))
      expect(events).toEqual(['step', ...Array.from({ length: STEPS - 1 }, () => ['before', 'step']).flat()])
      events.length = 0
      await read(request({ ranges: [{ ...cards, limit: 2 }], beforeStep }))
      expect(events).toEqual([])
    })

    test('before the step that reads everything, too', async () => {
      let called = 0
      const beforeStep = () => void called++
      const { steps } = await read(request({ beforeStep }), (n) => commit({ put: { 'card:00': { n } } }))
      expect({ steps: steps.length, called }).toEqual({ steps: 4, called: 4 })
    })

    test('whose error ends it', async () => {
      const beforeStep = () => Promise.reject(new Error('the client has left'))
      await expect(read(request({ beforeStep }))).rejects.toThrow('the client has left')
    })
  })

  test('does not delay others while it waits before a step, on the same connection', async () => {
    let goOn!: () => void
    const waiting = new Promise<void>((resolve) => (goOn = resolve))
    const answered: string[] = []
    const long = store.read('w1', request({ beforeStep: () => waiting })).then(() => answered.push('long'))
    await store.read('w2', request())
    await store.commit('w2', change({ put: { 'card:1': { n: 1 } } }))
    answered.push('others')
    goOn()
    await long
    expect(answered).toEqual(['others', 'long'])
  })
})

describe('a long read of partial ranges', () => {
  const partial = { ...cards, partial: true }
  /** How many records a range has, and whether it is cut. */
  const shapesOf = ({ snapshot }: Awaited<ReturnType<typeof read>>) =>
    snapshot!.ranges.map(({ entries, records, isCut }) => [entries.length, records.length, isCut === true])

  test('ends in the step that brings it to a mebibyte after the first step', async () => {
    const outcome = await read(request({ ranges: [partial] }))
    expect(shapesOf(outcome)).toEqual([[22, 22, true]])
    expect(outcome.steps).toHaveLength(6)
  })

  test('reads others completely', async () => {
    const outcome = await read(request({ ranges: [{ ...partial, limit: 8 }, partial, cards, { index: 'small', limit: 9 }] }))
    expect(shapesOf(outcome)).toEqual([
      [8, 8, false],
      [14, 14, true],
      [COUNT, COUNT, false],
      [1, 0, false],
    ])
  })

  test('has a record at least, however long it is', async () => {
    await commit({ put: { 'card:00': { n: 2, text: 'x'.repeat(PAGE) } } })
    const outcome = await read(request({ ranges: [partial] }))
    expect({ shapes: shapesOf(outcome), values: valuesOf(outcome) }).toEqual({ shapes: [[1, 1, true]], values: [2] })
  })

  test.each([LENGTH, PAGE])('is cut in one step when commits interfere every time, with records of %i characters', async (length) => {
    let n = 1
    const change = () => commit({ put: { 'card:00': { n: ++n, text: 'x'.repeat(length) } } })
    await change()
    const { snapshot, steps } = await read(request({ ranges: [partial, cards] }), change)
    const count = length === LENGTH ? Math.floor(PAGE / LENGTH) : 1
    expect(shapesOf({ snapshot, steps })).toEqual([
      [count, count, true],
      [COUNT, COUNT, false],
    ])
    expect(steps.at(-1)!.sizes).toEqual([PAGE, undefined])
  })
})
