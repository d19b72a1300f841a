import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ReadRequest } from '../../src/store/port.ts'
import type { Connection } from '../../src/store/redis/client.ts'
import { Pool } from '../../src/store/redis/pool.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { change, expectation, readRequest } from '../support/changes.ts'
import { sharedRedis } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'

let pool: Pool
let prefix: string
/** the store under test, and another process */
let store: RedisStore
let other: RedisStore
/** whether each read was a script or a transaction */
let sent: ('script' | 'plain')[]
beforeAll(async () => {
  pool = await Pool.open(sharedRedis(), 1, quiet)
})
afterAll(() => pool.close())
beforeEach(async () => {
  sent = []
  const record = (client: Connection): Connection => {
    const lkRead: Connection['lkRead'] = (...values) => {
      sent.push('script')
      return client.lkRead(...values)
    }
    const multi = (commands: unknown[][]) => {
      sent.push('plain')
      return client.multi(commands)
    }
    return Object.assign(Object.create(client), { lkRead, multi }) as Connection
  }
  const recording = {
    run: (command: Parameters<Pool['run']>[0]) => pool.run(command),
    runRead: (command: Parameters<Pool['runRead']>[0]) => pool.runRead((client) => command(record(client))),
  }
  prefix = `ranges-${randomUUID()}`
  store = new RedisStore(recording as Pool, prefix)
  other = new RedisStore(pool, prefix)
  await commit({ put: { 'c:1': { n: 1 }, 'c:2': { n: 2 } }, index: { cards: { add: ['a 1', 'b 2'] } } })
})

const commit = (part: Parameters<typeof change>[0]) => other.commit('w1', change(part))
const cards = { index: 'cards', limit: 10, fetch: 'c:' }
const read = async (range: object = {}, part: Partial<ReadRequest> = {}) =>
  (await store.read('w1', readRequest({ ranges: [{ ...cards, ...range }], ...part })))?.ranges[0]
const valuesOf = async (range: object = {}) => (await read(range))!.records.map((stored) => stored?.value['n'])

describe('the records of a range', () => {
  test('are read without a script when two reads have found the index unchanged', async () => {
    const found = [await read(), await read(), await read(), await read()]
    expect(sent).toEqual(['script', 'script', 'plain', 'plain'])
    for (const range of found) expect(range).toEqual(found[0])
    expect(found[0]).toMatchObject({ entries: ['a 1', 'b 2'], records: [{ value: { n: 1 } }, { value: { n: 2 } }] })
  })

  test('are as they are now, and absent if they were removed', async () => {
    await read()
    await read()
    await commit({ put: { 'c:2': { n: 22 } } })
    expect(await valuesOf()).toEqual([1, 22])
    await commit({ remove: ['c:1'] })
    expect(await valuesOf()).toEqual([undefined, 22])
    expect(sent.slice(2)).toEqual(['plain', 'plain'])
  })

  test('are read by a script again when the index has changed, until two reads have found it unchanged', async () => {
    await read()
    await read()
    await commit({ put: { 'c:3': { n: 3 } }, index: { cards: { add: ['aa 3'], remove: ['b 2'] } } })
    expect(await valuesOf()).toEqual([1, 3])
    expect(await valuesOf()).toEqual([1, 3])
    expect(await valuesOf()).toEqual([1, 3])
    expect(sent.slice(2)).toEqual(['plain', 'script', 'script', 'plain'])
  })

  test('of an index that becomes empty are none, and then others', async () => {
    await read()
    await read()
    await commit({ index: { cards: { remove: ['a 1', 'b 2'] } } })
    for (let i = 0; i < 3; i++) expect(await valuesOf()).toEqual([])
    await commit({ index: { cards: { add: ['c 1'] } } })
    expect(await valuesOf()).toEqual([1])
    expect(sent.slice(2)).toEqual(['plain', 'script', 'script', 'plain', 'plain', 'script'])
  })

  test('belong to their range: its index, bounds, order, limit and prefix', async () => {
    await read()
    await read()
    await commit({ put: { 'd:1': { n: 91 }, 'd:2': { n: 92 } }, index: { cards2: { add: ['x 2'] } } })
    const others: [object, unknown[]][] = [
      [{ after: 'a 1' }, [2]],
      [{ before: 'b' }, [1]],
      [{ reverse: true }, [2, 1]],
      [{ limit: 1 }, [1]],
      [{ fetch: 'd:' }, [91, 92]],
      [{ index: 'cards2' }, [2]],
    ]
    for (const [range, values] of others) expect([range, await valuesOf(range)]).toEqual([range, values])
    expect(sent.slice(2)).toEqual(others.map(() => 'script'))
    expect((await other.read('w2', readRequest({ ranges: [cards] })))!.ranges[0]!.entries).toEqual([])
  })

  test('are read with expected records and indexes, several ranges, counts and references in one snapshot', async () => {
    const { revision } = (await read())!
    const expecting = (expected: string | null) =>
      expectation({ records: new Map([['c:1', expected]]), indexes: new Map([['cards', revision]]) })
    const own = (await other.read('w1', readRequest({ records: ['c:1'] })))!.records[0]!.stored!.revision
    const ranges = [{ index: 'cards', limit: 1 }, cards, { ...cards, reverse: true, limit: 1 }]
    const request = readRequest({ records: ['c:2'], ranges, counts: ['cards'], expect: expecting(own) })
    sent.length = 0
    const found = [await store.read('w1', request), await store.read('w1', request), await store.read('w1', request)]
    expect(sent).toEqual(['script', 'script', 'plain'])
    expect(found[2]).toEqual(found[0])
    expect(found[2]!.ranges.map(({ entries, records }) => [entries, records.map((stored) => stored!.value['n'])])).toEqual([
      [['a 1'], []],
      [
        ['a 1', 'b 2'],
        [1, 2],
      ],
      [['b 2'], [2]],
    ])
    expect([found[2]!.records[0]!.stored!.value, found[2]!.counts]).toEqual([{ n: 2 }, [2]])
    expect(await store.read('w1', { ...request, expect: expecting(null) })).toBeNull()
  })

  test('that are many, or long, are always read by a script', async () => {
    const ids = Array.from({ length: 201 }, (_, i) => String(i))
    await commit({ index: { many: { add: ids }, few: { add: ids.slice(1) } } })
    await commit({ put: { 'c:1': { text: 'x'.repeat(2 ** 20) }, 'c:2': { text: 'x' } } })
    for (let i = 0; i < 3; i++) await read({ index: 'many', limit: 300, fetch: 'none:' })
    for (let i = 0; i < 3; i++) await read({ index: 'few', limit: 300, fetch: 'none:' })
    expect(sent).toEqual(['script', 'script', 'script', 'script', 'script', 'plain'])
    sent.length = 0
    for (let i = 0; i < 3; i++) expect((await read())!.records).toHaveLength(2)
    expect(sent).not.toContain('plain')
  })

  test('that have become long are read by a script again', async () => {
    await read()
    await read()
    await commit({ put: { 'c:1': { text: 'x'.repeat(2 ** 20) } } })
    for (let i = 0; i < 3; i++) expect((await read())!.records).toHaveLength(2)
    expect(sent.slice(2)).toEqual(['plain', 'script', 'script', 'script', 'script'])
  })

  test('that the driver left out are not forgotten in the next read', async () => {
    await commit({ put: { 'c:1': { text: 'x'.repeat(2 ** 20) } } })
    for (let i = 0; i < 3; i++) expect(await read({ partial: true })).toMatchObject({ entries: ['a 1'], isCut: true })
    await commit({ put: { 'c:1': { n: 1 } } })
    for (let i = 0; i < 3; i++) expect(await valuesOf({ partial: true })).toEqual([1, 2])
  })
})
