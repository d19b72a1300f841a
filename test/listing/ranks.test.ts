import { beforeEach, describe, expect, test } from 'vitest'
import { currentEntry, positionAt, type RankedList } from '../../src/listing/ranks.ts'
import { AT_END, type ResolvedPlacement } from '../../src/listing/placement.ts'
import type { Card } from '../../src/model/card.ts'
import type { OrderRecord } from '../../src/model/order.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { change } from '../support/changes.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card } from '../support/records.ts'

const list: RankedList<Card> = {
  id: 'col_1',
  indexes: [indexes.cards('active', 'col_1'), indexes.cards('archived', 'col_1')],
  keyOf: keys.card,
}
/** A position of 41 characters. There is no shorter one between it and its neighbors. */
const longest = (first: string) => first + '0'.repeat(38) + '1'

// Where items are placed and cursors continue is compared with models in rebalancing.test.ts and batch-placements.
describe('the positions of a ranked list', () => {
  const records = setUpRecords()
  const { work } = records
  /** Writes cards by their positions. The id of a card is its letter; a capital letter is archived. */
  const put = async (cards: Readonly<Record<string, string>>) => {
    for (const [id, position] of Object.entries(cards)) {
      const archived_at = id === id.toUpperCase() ? '2026' : null
      await records.put(keys.card(id), card({ id, position, column_id: 'col_1', archived_at }))
    }
  }
  const read = async (id: string) => (await records.read(keys.card(id)))!
  const order = () => records.read(keys.order('col_1'))
  const place = (placement: ResolvedPlacement<Card>, self?: Card) => work((tx) => positionAt(tx, list, placement, self))

  test('two entries of each index are read, and not the whole list', async () => {
    await put({ x: 'a0', y: 'a1', z: 'a2', Z: 'a3' })
    const x = await read('x')
    records.ranges = []
    await place({ after: x })
    expect(records.ranges.flat().map(({ limit }) => limit)).toEqual([2, 2])
  })

  test('an item that is at the place already keeps its position', async () => {
    await put({ x: 'a0', y: 'a1V', z: 'a2' })
    const [x, y, z] = await Promise.all(['x', 'y', 'z'].map(read))
    expect(await place({ after: x! }, y)).toBe('a1V')
    expect(await place({ before: z! }, y)).toBe('a1V')
    expect(await place({ to: 'last' }, z)).toBe('a2')
    expect(await place({ to: 'first' }, x)).toBe('a0')
    await put({ w: 'a1V' })
    expect(await place({ after: x! }, y)).not.toBe('a1V')
  })

  describe('a rebalancing', () => {
    const tight = { W: 'a0', x: longest('a1'), y: longest('a1'), z: 'a3' }
    beforeEach(() => put(tight))
    const positions = () => Promise.all(['W', 'x', 'y', 'z'].map(async (id) => (await read(id)).position))

    test('changes nothing but the positions, so the times of the items remain', async () => {
      const before = await Promise.all(['W', 'x', 'y', 'z'].map(read))
      await place({ after: before[1]! })
      const after = await Promise.all(['W', 'x', 'y', 'z'].map(read))
      expect(after[0]).toEqual(before[0])
      for (const i of [1, 2, 3]) expect(after[i]).toEqual({ ...before[i], position: expect.not.stringMatching(`^${before[i]!.position}$`) })
    })

    test('is recorded with the old and the new entries, and only the last eight are remembered', async () => {
      await place({ after: await read('x') })
      const old = ['a0 W', `${longest('a1')} x`, `${longest('a1')} y`, 'a3 z']
      expect(await order()).toEqual({ generation: 1, maps: [{ from: 0, old, new: ['a0 W', 'a1 x', 'a3 y', 'a4 z'] }] })
      for (let i = 2; i <= 10; i++) {
        await put(tight)
        await place({ after: await read('x') })
        expect((await order())!.generation).toBe(i)
      }
      expect((await order())!.maps.map(({ from }) => from)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    })

    test('makes room for an item at an end that has none', async () => {
      const [first, last] = [`A${'0'.repeat(26)}${'0'.repeat(13)}1`, `z${'z'.repeat(26)}${'z'.repeat(13)}`]
      await put({ W: first, z: last })
      expect(await place({ to: 'first' })).toBe('a0')
      expect(await positions()).toEqual(['a1', 'a2', 'a3', 'a4'])
      await put({ W: first, z: last })
      expect(await place(AT_END)).toBe('a4')
      expect(await positions()).toEqual(['a0', 'a1', 'a2', 'a3'])
    })

    test('leaves out an entry without a record', async () => {
      await records.store.commit('w', change({ remove: [keys.card('z')] }))
      expect(await place({ after: await read('x') })).toBe('a2')
      expect((await order())!.maps[0]!.new).toEqual(['a0 W', 'a1 x', 'a3 y'])
    })
  })

  test('an item that is added beside the place does not disturb the commit; a rebalancing does', async () => {
    await put({ x: 'a0', y: 'a1' })
    const commit = async (meanwhile: () => Promise<unknown>) => {
      let attempts = 0
      await work(async (tx) => {
        attempts++
        const position = await positionAt(tx, list, { to: 'last' })
        if (attempts === 1) await meanwhile()
        await tx.create(keys.card(`n${position}`), card({ id: `n${position}`, position }))
      })
      return attempts
    }
    expect(await commit(() => put({ z: 'a5' }))).toBe(1)
    const rebalanced = () => records.put(keys.order('col_1'), { generation: 1, maps: [] })
    expect(await commit(rebalanced)).toBe(2)
  })
})

describe('the entry of an earlier generation', () => {
  const map = (from: number, old: string[], now: string[]) => ({ from, old, new: now })
  const record: OrderRecord = {
    generation: 3,
    maps: [map(1, ['a0 x', 'a1 y', 'a2 z'], ['b0 x', 'b1 y', 'b2 z']), map(2, ['b0 x', 'b1 y', 'b2 z'], ['c0 x', 'c1 y', 'c2 z'])],
  }

  test('has no item of a generation that is not remembered, and a place before the first item is still there', () => {
    for (const generation of [0, 4, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(currentEntry(record, generation, 'a1 y')).toBeUndefined()
    expect(currentEntry(record, 1, 'a0 a')).toBe('')
  })

  test('after a rebalancing of a part of the list, a place before its first item is behind the item next to that part', () => {
    const part = { from: 0, low: 'a1 low', high: 'a4 high', old: ['a2 y', 'a3 z'], new: ['b2 y', 'b3 z'] }
    expect(currentEntry({ generation: 1, maps: [part] }, 0, 'a1V gone')).toBe('a1 low')
  })

  test('a list without a rebalancing is in generation 0', () => {
    expect(currentEntry(undefined, 0, 'a0 x')).toBe('a0 x')
    for (const generation of [1, -1, Number.NaN]) expect(currentEntry(undefined, generation, 'a0 x')).toBeUndefined()
  })
})
