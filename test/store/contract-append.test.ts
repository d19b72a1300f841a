import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Change, Store } from '../../src/store/port.ts'
import { change, expectation, readRequest } from '../support/changes.ts'
import { driversOfContract, type OpenDriver } from '../support/drivers.ts'

const FETCH = 'e:'
const INDEX = 'log:1'

/** A change that appends records, among other things. */
const appending = (values: readonly object[], part: Parameters<typeof change>[0] = {}, index = INDEX): Change => ({
  ...change(part),
  append: new Map([[index, { fetch: FETCH, values: values as never }]]),
})
const entry = (number: number) => String(number).padStart(16, '0')

describe.each(driversOfContract)('appended records of the storage port on $name', (driver) => {
  let opened: OpenDriver
  let store: Store
  beforeEach(async () => {
    opened = await driver.open()
    store = opened.store
  })
  afterEach(() => store.close())

  const log = async (index = INDEX) => {
    const [range] = (await store.read('w1', readRequest({ ranges: [{ index, limit: 1000, fetch: FETCH }] })))!.ranges
    return range!.entries.map((found, i) => [found, range!.records[i]?.value, range!.records[i]?.revision])
  }

  test('are numbered in the order of their commits, and are records like others', async () => {
    const [first, second] = [appending([{ n: 1 }, { n: 2 }]), appending([{ n: 3 }], { put: { 'a:1': { a: 1 } } })]
    for (const one of [first, second]) expect(await store.commit('w1', one)).toBe('done')
    expect(await log()).toEqual([
      [entry(1), { n: 1 }, first.revision],
      [entry(2), { n: 2 }, first.revision],
      [entry(3), { n: 3 }, second.revision],
    ])
    const dumped: unknown[] = []
    for await (const batch of store.dump('w1')) dumped.push(...batch.map(([key]) => key))
    expect(dumped).toEqual(['a:1', `e:${entry(1)}`, `e:${entry(2)}`, `e:${entry(3)}`])
  })

  test('are numbered for each index and partition', async () => {
    await store.commit('w1', {
      ...appending([{}]),
      append: new Map(['log:1', 'log:2'].map((index) => [index, { fetch: `${index}:`, values: [{}] }])),
    })
    await store.commit('w2', appending([{}]))
    for (const index of ['log:1', 'log:2']) expect((await log(index)).map(([found]) => found)).toEqual([entry(1)])
  })

  test('are not there if the commit conflicts', async () => {
    const conflicting = appending([{ n: 1 }], { expect: expectation({ records: new Map([['a:1', 'other']]) }) })
    expect(await store.commit('w1', conflicting)).toBe('conflict')
    expect(await log()).toEqual([])
    await store.commit('w1', appending([{ n: 2 }]))
    expect((await log()).map(([found]) => found)).toEqual([entry(1)])
  })

  test('conflict with nothing: of many at the same time, each has its own number', async () => {
    const again = await opened.openAgain?.()
    const stores = [store, again ?? store]
    const outcomes = await Promise.all(Array.from({ length: 40 }, (_, n) => stores[n % 2]!.commit('w1', appending([{ n }, { n }]))))
    expect(new Set(outcomes)).toEqual(new Set(['done']))
    const found = await log()
    expect(found.map(([number]) => number)).toEqual(found.map((_row, i) => entry(i + 1)))
    // The records of one commit follow each other.
    const values = found.map(([, value]) => (value as { n: number }).n)
    expect(values.filter((_n, i) => i % 2 === 0)).toEqual(values.filter((_n, i) => i % 2 === 1))
    expect(values.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, i) => i >> 1))
    await again?.close()
  })

  test('go on after the last one when all before it were removed', async () => {
    await store.commit('w1', appending([{}, {}, {}]))
    const keys = [entry(1), entry(2)]
    await store.commit('w1', change({ remove: keys.map((one) => FETCH + one), index: { [INDEX]: { remove: keys } } }))
    await store.commit('w1', appending([{}]))
    expect((await log()).map(([found]) => found)).toEqual([entry(3), entry(4)])
  })

  test('are no part of a dump that began before them', async () => {
    await store.commit('w1', change({ put: Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`a:${i}`, {}])) }))
    const dump = store.dump('w1')[Symbol.asyncIterator]()
    const dumped: (readonly [key: string, value: unknown])[] = [...(await dump.next()).value]
    await store.commit('w1', appending([{}]))
    for (let batch = await dump.next(); batch.done !== true; batch = await dump.next()) dumped.push(...batch.value)
    expect(dumped.filter(([key]) => key.startsWith(FETCH))).toEqual([])
    expect(dumped).toHaveLength(700)
  })

  test.each(['this process', 'another process'] as const)('are noticed by those who watch the index, if %s appends them', async (where) => {
    const again = where === 'another process' ? await opened.openAgain?.() : undefined
    const calls = { mine: 0, other: 0, ended: 0 }
    let end!: () => void
    await new Promise<void>((resolve) => {
      // A driver that subscribes calls once when it has.
      end = store.watch('w1', INDEX, () =>
        calls.mine++ === 0 && again !== undefined ? void again.commit('w1', appending([{}])) : resolve(),
      )
      store.watch('w1', 'log:2', () => void calls.other++)
      store.watch('w2', INDEX, () => void calls.ended++)()
      if (again === undefined) void store.commit('w1', appending([{}]))
    })
    const before = calls.mine
    end()
    await (again ?? store).commit('w1', appending([{}]))
    expect({ mine: calls.mine, ended: calls.ended }).toEqual({ mine: before, ended: 0 })
    if (again === undefined) expect(calls.other).toBe(0)
    await again?.close()
  })
})
