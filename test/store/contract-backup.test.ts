import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import { changing } from '../support/changes.ts'
import { drivers } from '../support/drivers.ts'

/** What every driver promises of backups, and of being ready. */
describe.each(drivers)('the store port, on $name', (driver) => {
  let store: Store
  beforeEach(async () => {
    store = (await driver.open()).store
  })
  afterEach(() => store.close())

  const dumped = async (partition = 'w1') => {
    const found: (readonly [string, object])[] = []
    for await (const piece of store.dump(partition)) found.push(...piece)
    return found
  }

  test('a backup of a partition in which nothing is has nothing in it', async () => {
    await store.commit('w2', changing({ put: { 'a:1': { n: 1 } } }))
    expect(await dumped()).toEqual([])
    await store.commit('w1', changing({ put: { 'a:1': { n: 1 } } }))
    await store.commit('w1', changing({ remove: ['a:1'] }))
    expect(await dumped()).toEqual([])
  })

  test('a backup has every record of its partition once, and none of another', async () => {
    const all = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`k:${i}`, { text: `${i} 🦊`, nothing: null, list: ['true'] }]))
    await store.commit('w1', changing({ put: all, index: { i: { add: ['x 1'] } } }))
    await store.commit('w10', changing({ put: { 'k:x': {} } }))
    await store.commit('w1', changing({ put: { 'k:7': { text: 'later' } }, remove: ['k:8'] }))
    const found = await dumped()
    const { 'k:8': _gone, ...rest } = all
    expect(found).toHaveLength(2499)
    expect(Object.fromEntries(found)).toEqual({ ...rest, 'k:7': { text: 'later' } })
  })

  test('a backup is of one moment, also while others write', async () => {
    // One at either end of all that is read, and one that moves through its middle.
    const at = (n: number) => ({ put: { 'a:1': { n }, 'z:1': { n }, [`m:${n}`]: { n } }, remove: n === 0 ? [] : [`m:${n - 1}`] })
    const many = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`k:${i}`, {}]))
    await store.commit('w1', changing({ ...at(0), put: { ...many, ...at(0).put } }))
    let n = 0
    let going = true
    const writing = (async () => {
      while (going) await store.commit('w1', changing(at(++n)))
    })()
    try {
      for (let i = 0; i < 10; i++) {
        const before = n
        const found = await dumped()
        const moment = (found.find(([key]) => key === 'a:1')![1] as { n: number }).n
        expect(moment).toBeGreaterThanOrEqual(before - 1)
        expect(found).toHaveLength(2503)
        expect(found.filter(([key]) => !key.startsWith('k:')).toSorted()).toEqual([
          ['a:1', { n: moment }],
          [`m:${moment}`, { n: moment }],
          ['z:1', { n: moment }],
        ])
      }
    } finally {
      going = false
      await writing
    }
  })

  test('what is written while a backup is being fetched is not in it', async () => {
    await store.commit('w1', changing({ put: Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`k:${i}`, { n: 1 }])) }))
    const backup = store.dump('w1')[Symbol.asyncIterator]()
    const found = [...((await backup.next()).value as [string, object][])]
    await store.commit('w1', changing({ put: { 'k:0': { n: 2 }, 'k:2499': { n: 2 }, 'zz:1': { n: 2 } }, remove: ['k:999'] }))
    for (let next = await backup.next(); next.done !== true; next = await backup.next()) found.push(...(next.value as [string, object][]))
    expect(found).toHaveLength(2500)
    expect(found.filter(([, value]) => (value as { n: number }).n !== 1)).toEqual([])
  })

  test('it says that it is ready, and leaves nothing behind by that', async () => {
    await store.ready()
    await store.commit('w1', changing({ put: { 'a:1': { n: 1 } } }))
    await Promise.all([store.ready(), store.ready()])
    expect(await dumped()).toEqual([['a:1', { n: 1 }]])
  })
})
