import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NO_EXPECTATION, type IndexRange, type Store } from '../../src/store/port.ts'
import { change } from '../support/changes.ts'
import { driversOfContract } from '../support/drivers.ts'

const COUNT = 40
const LENGTH = 100_000

describe.each(driversOfContract)('partial ranges of the storage port on $name', (driver) => {
  let store: Store
  const entries = Array.from({ length: COUNT }, (_, i) => `${String(i).padStart(3, '0')} ${i}`)
  beforeEach(async () => {
    store = (await driver.open()).store
    const put = Object.fromEntries(entries.map((_entry, i) => [`k:${i}`, { i, text: 'x'.repeat(LENGTH) }]))
    await store.commit('w1', change({ put, index: { a: { add: entries }, b: { add: entries } } }))
  })
  afterEach(() => store.close())

  const read = async (...ranges: IndexRange[]) =>
    (await store.read('w1', { records: [], ranges, counts: [], expect: NO_EXPECTATION }))!.ranges
  const range = (options: Partial<IndexRange>): IndexRange => ({ index: 'a', limit: COUNT, fetch: 'k:', ...options })

  test('have all entries with their records when they are read one after the other, in both directions', async () => {
    for (const reverse of [false, true]) {
      const found: string[] = []
      for (let isCut = true; isCut;) {
        const last = found.at(-1)
        const [page] = await read(range({ partial: true, reverse, ...(reverse ? { before: last } : { after: last }) }))
        expect(page!.entries.length).toBeGreaterThan(0)
        expect(page!.records.map((stored) => `${String(stored!.value['i']).padStart(3, '0')} ${stored!.value['i']}`)).toEqual(page!.entries)
        found.push(...page!.entries)
        isCut = page!.isCut === true
      }
      expect(found).toEqual(reverse ? entries.toReversed() : entries)
    }
  })

  test('are complete or cut when one read has several of them', async () => {
    const pages = await read(range({ partial: true }), range({ index: 'b', partial: true, limit: 3 }), range({ index: 'c', partial: true }))
    expect(pages[0]!.entries.length).toBeGreaterThan(0)
    for (const [i, { entries: found, records, isCut }] of pages.entries()) {
      const expected = [entries, entries.slice(0, 3), []][i]!
      expect(found).toEqual(expected.slice(0, found.length))
      expect({ records: records.length, isCut: isCut === true }).toEqual({ records: found.length, isCut: found.length < expected.length })
    }
  })

  test('a range that is not partial is complete', async () => {
    const [partial, complete] = await read(range({ partial: true }), range({ index: 'b' }))
    expect(partial!.entries.length).toBeGreaterThan(0)
    expect({ entries: complete!.entries, records: complete!.records.length, isCut: complete!.isCut }).toStrictEqual({
      entries,
      records: COUNT,
      isCut: undefined,
    })
  })

  test('of long records are cut where each read makes a copy of them', async () => {
    const [page] = await read(range({ partial: true }))
    expect([store.driver, page!.isCut === true]).toEqual([store.driver, store.driver === 'redis'])
    expect(page!.entries.length < COUNT / 2).toBe(page!.isCut === true)
  })
})
