import { beforeEach, describe, expect, test } from 'vitest'
import type { ResolvedPlacement } from '../../src/listing/placement.ts'
import { currentEntry, positionAt, type RankedList } from '../../src/listing/ranks.ts'
import type { Card } from '../../src/model/card.ts'
import { indexes, positionEntry } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card } from '../support/records.ts'

const list: RankedList<Card> = {
  id: 'col_1',
  indexes: [indexes.cards('active', 'col_1'), indexes.cards('archived', 'col_1')],
  keyOf: keys.card,
}
const SIZE = 600

describe('a rebalancing of a long list', () => {
  const records = setUpRecords()
  const { work } = records
  /** the ids of all items, in their order */
  let model: string[]
  let next: number
  beforeEach(async () => {
    model = []
    next = 0
    for (let i = 0; i < SIZE; i++) await insert('last')
  })

  /** Inserts a card. Every third is archived. */
  async function insert(place: 'first' | 'last' | 'before' | 'after', neighbor?: string): Promise<string> {
    const id = `c${next++}`
    await work(async (tx) => {
      const placement = neighbor === undefined ? { to: place } : { [place]: await tx.get(keys.card(neighbor)) }
      const position = await positionAt(tx, list, placement as ResolvedPlacement<Card>)
      tx.create(keys.card(id), card({ id, position, column_id: 'col_1', archived_at: next % 3 === 0 ? '2026' : null }))
    })
    const at = { first: 0, last: model.length, before: model.indexOf(neighbor!), after: model.indexOf(neighbor!) + 1 }[place]
    model.splice(at, 0, id)
    return id
  }
  const cards = () =>
    work(async (tx) => (await Promise.all(list.indexes.map((index) => tx.all(index)))).flatMap(({ values }) => values as Card[]))
  const stored = async () => {
    const entries = new Map((await cards()).map((one) => [positionEntry(one), one.id]))
    return [...entries.keys()].toSorted().map((entry) => entries.get(entry)!)
  }
  const order = () => records.read(keys.order('col_1'))

  const middle = () => model[SIZE / 2]!
  test.each<[string, (step: number, last: string) => Parameters<typeof insert>, rebalances: boolean]>([
    ['after the same item', () => ['after', middle()], true],
    ['before the same item', () => ['before', 'c300'], true],
    ['after the last inserted item and before it in turn', (step, last) => [step % 2 === 0 ? 'after' : 'before', last], true],
    ['at the start', () => ['first'], false],
    ['at random places within a few items', (step) => ['after', model[SIZE / 2 + ((step * step * 7) % 5)]!], false],
  ])(
    'an item %s writes a few others at most, the order is kept, and cursors continue where they were',
    async (_what, placement, rebalances) => {
      /** for each generation: the entries and ids of the list, as they were */
      const generations: (readonly (readonly [entry: string, id: string])[])[] = []
      let last = middle()
      let rebalancings = 0
      for (let step = 0; step < 700; step++) {
        const before = (await order())?.generation ?? 0
        if (step % 20 === 0 || step === 699)
          generations[before] = (await cards()).map((one) => [positionEntry(one), one.id] as const).toSorted()
        last = await insert(...placement(step, last))
        const generation = (await order())?.generation ?? 0
        if (generation === before) expect(records.written).toHaveLength(1)
        else {
          rebalancings++
          expect(records.written.length).toBeLessThan(SIZE / 2)
        }
      }
      expect(await stored()).toEqual(model)
      expect(rebalancings > 1).toBe(rebalances)
      const current = await order()
      const now = (await cards()).map((one) => [positionEntry(one), one.id] as const).toSorted()
      for (const [generation, entries] of generations.entries())
        for (const [i, [entry]] of (entries ?? []).entries()) {
          const after = currentEntry(current, generation, entry)
          if (after === undefined) continue
          const seen = new Set(entries!.map(([, id]) => id))
          const following = now.filter(([other, id]) => other > after && seen.has(id)).map(([, id]) => id)
          expect(following).toEqual(entries!.slice(i + 1).map(([, id]) => id))
        }
    },
  )

  test('many items with the same position get different ones, in the order of their ids', async () => {
    for (const one of await cards()) await records.edit(keys.card(one.id), { position: 'a1' })
    const before = await stored()
    model = [...before]
    await insert('after', model[SIZE / 2]!)
    expect(await stored()).toEqual(model)
  })
})
