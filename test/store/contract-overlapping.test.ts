import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import type { Index } from '../../src/store/indexes.ts'
import type { Key } from '../../src/store/keys.ts'
import type { Store } from '../../src/store/port.ts'
import { Transaction } from '../../src/store/transaction.ts'
import { change } from '../support/changes.ts'
import { driversOfContract } from '../support/drivers.ts'

interface Item {
  readonly n: number
}
const IDS = ['1', '2', '3', '4']
const key = (id: string): Key<Item> => `a:${id}`
const index = (name: string): Index<Item> => ({ name, fetch: 'a:' })

describe.each(driversOfContract)('reads of one transaction that overlap, on $name', (driver) => {
  let store: Store
  beforeEach(async () => {
    store = (await driver.open()).store
    const put = Object.fromEntries(IDS.map((id) => [key(id), { n: Number(id) }]))
    await store.commit('w1', change({ put, index: { i: { add: IDS }, j: { add: IDS.toReversed() } } }))
  })
  afterEach(() => store.close())
  const begin = () => new Transaction(store, 'w1', systemRandom)

  test('each have the requested records, although the others add to the expectations of the transaction', async () => {
    // A driver may read a range otherwise when it was read before.
    for (let round = 0; round < 5; round++) {
      const tx = begin()
      const [one, two, first, second, three] = await Promise.all([
        tx.get(key('1')),
        tx.read([key('2'), key('absent')]),
        tx.range(index('i'), { limit: 3 }),
        tx.range(index('j'), { limit: 10 }),
        tx.get(key('3')),
      ])
      expect({ one, two, three }).toEqual({ one: { n: 1 }, two: [{ n: 2 }, undefined], three: { n: 3 } })
      for (const { entries, values } of [first, second]) expect(values.map((value) => String(value!.n))).toEqual(entries)
      expect({ first: first.entries, second: second.entries }).toEqual({ first: ['1', '2', '3'], second: IDS })
    }
  })

  test('a read after a read that found a part of it has the rest', async () => {
    for (let round = 0; round < 5; round++) {
      const tx = begin()
      await tx.get(key('1'))
      const pages = await Promise.all([tx.range(index('i'), { limit: 10 }), tx.get(key('2')), tx.range(index('i'), { limit: 2 })])
      expect({ all: pages[0].entries, record: pages[1], firstTwo: pages[2].entries }).toEqual({
        all: IDS,
        record: { n: 2 },
        firstTwo: ['1', '2'],
      })
    }
  })
})
