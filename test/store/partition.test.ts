import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Partition } from '../../src/store/partition.ts'
import { PendingChanges } from '../../src/store/pending-changes.ts'
import type { Expectation, Value } from '../../src/store/port.ts'
import { change, expectation, readRequest } from '../support/changes.ts'
import { seededRandom } from '../support/random.ts'

/** More than several steps of a dump. */
const COUNT = 11_000
const keyOf = (i: number) => `k:${(i * 7919) % COUNT}`

/** A partition with many records, inserted in an order other than the order of their keys. */
function createPartition(count = COUNT): { partition: Partition; content: Map<string, Value> } {
  const content = new Map(Array.from({ length: count }, (_none, i) => [keyOf(i), { n: i } as Value]))
  const partition = new Partition(new Map())
  partition.apply(change({ put: Object.fromEntries(content) }))
  return { partition, content }
}
const sorted = (content: Iterable<readonly [string, Value]>) => [...content].toSorted(([a], [b]) => (a < b ? -1 : 1))

async function collect(batches: AsyncIterable<(readonly [string, Value])[]>, onBatch: () => unknown = () => undefined) {
  const records: (readonly [string, Value])[] = []
  for await (const batch of batches) {
    records.push(...batch)
    await onBatch()
  }
  return records
}

test('a scan has batches of 500 records, and leaves out one that was removed before its batch', () => {
  const { partition } = createPartition(1200)
  const batches: number[] = []
  for (const batch of partition.scan()) {
    for (const [key, stored] of batch) expect(partition.records.get(key) ?? null).toBe(stored)
    if (batches.push(batch.length) === 1) partition.apply(change({ remove: [keyOf(700), keyOf(1199)] }))
  }
  expect(batches).toEqual([500, 499, 199])
})

test('the names of indexes come in batches of 500, without those that are empty', () => {
  const partition = new Partition(new Map())
  const names = Array.from({ length: 600 }, (_none, i) => `i:${i}`)
  partition.apply(change({ index: Object.fromEntries(names.map((name) => [name, { add: ['x 1'] }])) }))
  partition.apply(change({ index: { 'i:0': { remove: ['x 1'] }, 'j:0': { remove: ['x 1'] }, 'i:1': { add: ['x 2'], remove: ['x 1'] } } }))
  expect([...partition.indexNames()]).toEqual([names.slice(1, 501), names.slice(501)])
})

test('a range has records only if it asks for them', () => {
  const partition = new Partition(new Map())
  const first = change({ put: { 'a:1': { n: 1 } }, index: { i: { add: ['x 1', 'x 2'] } } })
  partition.apply(first)
  const ranges = [
    { index: 'i', limit: 9 },
    { index: 'i', limit: 9, fetch: 'a:' },
    { index: 'j', limit: 9, fetch: 'a:' },
  ]
  const of = { entries: ['x 1', 'x 2'], revision: first.revision }
  expect(partition.read(readRequest({ ranges, records: ['a:1', 'a:9'], counts: ['i', 'j'] }))).toEqual({
    records: [
      { key: 'a:1', stored: { value: { n: 1 }, revision: first.revision } },
      { key: 'a:9', stored: null },
    ],
    ranges: [
      { ...of, records: [] },
      { ...of, records: [{ value: { n: 1 }, revision: first.revision }, null] },
      { entries: [], revision: null, records: [] },
    ],
    counts: [2, 0],
  })
  expect(partition.read(readRequest({ expect: expectation({ indexes: new Map([['i', 'other']]) }) }))).toBeNull()
})

test('a stored value and its lists are frozen', () => {
  const partition = new Partition(new Map())
  partition.apply(change({ put: { 'a:1': { list: ['x'], text: 'x' } } }))
  const { value } = partition.records.get('a:1')!
  expect({ value: Object.isFrozen(value), list: Object.isFrozen(value['list']) }).toEqual({ value: true, list: true })
})

test('all empty lists of stored values are one, also if a value is stored again', () => {
  const partition = new Partition(new Map())
  const stored = (key: string) => partition.records.get(key)!.value
  partition.apply(change({ put: { 'a:1': { list: [], text: 'x' }, 'a:2': { list: [] } } }))
  expect(stored('a:1')).toEqual({ list: [], text: 'x' })
  expect(stored('a:1')['list']).toBe(stored('a:2')['list'])
  expect(Object.isFrozen(stored('a:1')['list'])).toBe(true)
  const again = stored('a:1')
  partition.apply(change({ put: { 'a:1': again } }))
  expect(stored('a:1')).toBe(again)
})

describe('an expectation of', () => {
  const [stored, pending, settled] = [change({}), change({}), change({})]
  // Stored: records 1, 2 and 3, and an index of two entries. Pending: 1 is written, 2 is removed, 4 is new, the index has one entry more.
  const put = (...ids: string[]) => new Map(ids.map((id) => [`a:${id}`, { open: 'yes', by: 'me' }]))
  const at = { ...stored, put: put('1', '2', '3'), indexes: new Map([['i', { add: ['x 1', 'x 2'], remove: [] }]]) }
  const next = {
    ...pending,
    put: put('1', '4'),
    remove: new Set(['a:2']),
    indexes: new Map([
      ['i', { add: ['x 3'], remove: [] }],
      ['j', { add: ['x 3'], remove: [] }],
    ]),
  }
  const record = (id: string, expected: Expectation['records'] extends ReadonlyMap<string, infer R> ? R : never) =>
    expectation({ records: new Map([[`a:${id}`, expected]]) })
  const index = (name: string, revision: string | null) => expectation({ indexes: new Map([[name, revision]]) })
  const room = (name: string, limit: number) => expectation({ capacity: new Map([[name, limit]]) })
  const part = (revision: string, members: Record<string, string>) => ({ revision, members })

  test.each<[what: string, expected: Expectation, now: boolean, afterwards: boolean]>([
    ['nothing', expectation({}), true, true],
    ['a record that is written', record('1', stored.revision), true, false],
    ['a record that is going to be as it is expected', record('1', pending.revision), false, true],
    ['members of a record that is written and keeps them', record('1', part(stored.revision, { open: 'yes', by: 'me' })), true, true],
    ['a member that was another one', record('1', part(settled.revision, { open: 'yes', by: 'you' })), false, false],
    ['a revision with members that it had', record('3', part(stored.revision, { open: 'no' })), true, true],
    ['members of a record that is removed', record('2', part(stored.revision, { open: 'yes' })), true, false],
    ['a record that is removed', record('2', stored.revision), true, false],
    ['the absence of a record that is removed', record('2', null), false, true],
    ['a record that nothing changes', record('3', stored.revision), true, true],
    ['the absence of a record that is created', record('4', null), true, false],
    ['the absence of another record', record('5', null), true, true],
    ['an absent record', record('5', stored.revision), false, false],
    ['an index that is changed', index('i', stored.revision), true, false],
    ['an index that is going to be as it is expected', index('i', pending.revision), false, true],
    ['an empty index that is filled', index('j', null), true, false],
    ['an empty index', index('k', null), true, true],
    ['room for what is stored', room('i', 2), true, false],
    ['room for what is pending', room('i', 3), true, true],
    ['too little room', room('i', 1), false, false],
    ['no entry', room('k', 0), true, true],
    ['no entry where one is pending', room('j', 0), true, false],
  ])('%s is met or not, without and with pending changes', (_what, expected, now, afterwards) => {
    const partition = new Partition(new Map())
    partition.apply(at)
    const changes = new PendingChanges()
    const met = [partition.meets(expected), partition.meets(expected, changes)]
    changes.stage(next)
    expect([...met, partition.meets(expected, changes)]).toEqual([now, now, afterwards])
  })
})

describe('a dump', () => {
  test.each([
    [0, 0],
    [5000, 0],
    // Each step handles 5000 records: three sort them, and then two merge the first 10,000, and two all of them.
    [COUNT, 2 + 2 + 2],
  ])('of %i records lets other work run %i times, between its steps', async (count, expected) => {
    const { partition, content } = createPartition(count)
    let turns = 0
    let stopped = false
    const counting = (async () => {
      for (; !stopped; turns++) await nextTurn()
    })()
    expect(await collect(partition.dump())).toEqual(sorted(content))
    stopped = true
    expect(turns).toBe(expected)
    await counting
  })

  test('is the state of its beginning, whatever is changed during its steps', async () => {
    const { partition, content } = createPartition()
    const random = seededRandom(1)
    let stopped = false
    let changes = 0
    const changeSome = () => {
      const keys = Array.from({ length: 20 }, () => keyOf(random(COUNT)))
      const put = Object.fromEntries(keys.slice(0, 10).map((key) => [key, { n: -1 }]))
      const remove = keys.slice(10).filter((key) => !(key in put))
      // New records, also between the present ones, and records that were removed and are written again.
      partition.apply(change({ put: { ...put, [`k:${random(COUNT)}x`]: { n: -2 } }, remove }))
      partition.apply(change({ put: Object.fromEntries(remove.slice(0, 3).map((key) => [key, { n: -3 }])) }))
      changes++
    }
    const dumping = collect(partition.dump(), changeSome)
    const changing = (async () => {
      while (!stopped) {
        changeSome()
        await nextTurn()
      }
    })()
    const records = await dumping
    stopped = true
    await changing
    expect(records).toEqual(sorted(content))
    expect(changes).toBeGreaterThan(20)
  })
})
