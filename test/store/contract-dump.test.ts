import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import { change } from '../support/changes.ts'
import { driversOfContract } from '../support/drivers.ts'

describe.each(driversOfContract)('dump and ready of the storage port on $name', (driver) => {
  let store: Store
  beforeEach(async () => {
    store = (await driver.open()).store
  })
  afterEach(() => store.close())

  const dump = async (partition = 'w1') => {
    const records: (readonly [string, object])[] = []
    for await (const batch of store.dump(partition)) records.push(...batch)
    return records
  }

  test('a dump of an empty partition is empty', async () => {
    await store.commit('w2', change({ put: { 'a:1': { n: 1 } } }))
    expect(await dump()).toEqual([])
    await store.commit('w1', change({ put: { 'a:1': { n: 1 } } }))
    await store.commit('w1', change({ remove: ['a:1'] }))
    expect(await dump()).toEqual([])
  })

  test('a dump contains every record of its partition once, and none of other partitions', async () => {
    const all = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`k:${i}`, { text: `${i} 🦊`, nothing: null, list: ['true'] }]))
    await store.commit('w1', change({ put: all, index: { i: { add: ['x 1'] } } }))
    await store.commit('w10', change({ put: { 'k:x': {} } }))
    await store.commit('w1', change({ put: { 'k:7': { text: 'later' } }, remove: ['k:8'] }))
    const records = await dump()
    const { 'k:8': _removed, ...rest } = all
    expect(records).toHaveLength(2499)
    expect(Object.fromEntries(records)).toEqual({ ...rest, 'k:7': { text: 'later' } })
  })

  test('a dump is a consistent snapshot while other clients write', async () => {
    // Version n writes records at both ends of the key order, and one that moves through the middle.
    const version = (n: number) => ({ put: { 'a:1': { n }, 'z:1': { n }, [`m:${n}`]: { n } }, remove: n === 0 ? [] : [`m:${n - 1}`] })
    const many = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`k:${i}`, {}]))
    await store.commit('w1', change({ ...version(0), put: { ...many, ...version(0).put } }))
    let latest = 0
    let stopped = false
    const writing = (async () => {
      while (!stopped) await store.commit('w1', change(version(++latest)))
    })()
    try {
      for (let i = 0; i < 10; i++) {
        const before = latest
        const records = await dump()
        const { n } = records.find(([key]) => key === 'a:1')![1] as { n: number }
        expect(n).toBeGreaterThanOrEqual(before - 1)
        expect(records).toHaveLength(2503)
        expect(records.filter(([key]) => !key.startsWith('k:')).toSorted()).toEqual([
          ['a:1', { n }],
          [`m:${n}`, { n }],
          ['z:1', { n }],
        ])
      }
    } finally {
      stopped = true
      await writing
    }
  })

  test('ready() resolves and leaves no records behind', async () => {
    await store.ready()
    await store.commit('w1', change({ put: { 'a:1': { n: 1 } } }))
    await Promise.all([store.ready(), store.ready()])
    expect(await dump()).toEqual([['a:1', { n: 1 }]])
  })
})
