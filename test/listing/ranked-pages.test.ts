import { beforeEach, describe, expect, test } from 'vitest'
import { rankedPage } from '../../src/listing/pages.ts'
import type { RankedList } from '../../src/listing/ranks.ts'
import type { Card } from '../../src/model/card.ts'
import type { OrderRecord } from '../../src/model/order.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { change } from '../support/changes.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card } from '../support/records.ts'

const list: RankedList<Card> = { id: 'col_1', indexes: [indexes.cards('active', 'col_1')], keyOf: keys.card }
const cursor = (position: string) => Buffer.from(`cards\n${position}`).toString('base64url')
const isOpen = ({ completed_at }: Card) => completed_at === null

describe('a page of a ranked list', () => {
  const records = setUpRecords()
  const page = async (query: { limit: number; cursor?: string }, matches?: (item: Card) => boolean) => {
    const { data, nextCursor } = await rankedPage(records.begin(), 'cards', list, query, matches)
    return [data.map(({ id }) => id).join(''), nextCursor]
  }
  const setOrder = (order: OrderRecord) => records.put(keys.order('col_1'), order)

  // Seven cards from a to g; b, c, d and f are completed.
  beforeEach(() => {
    const cards = [...'abcdefg'].map((id, i) => card({ id, position: `a${i}`, completed_at: 'bcdf'.includes(id) ? '2026' : null }))
    return records.add(Object.fromEntries(cards.map((one) => [keys.card(one.id), one])))
  })

  test('has at most as many items as its limit, and a cursor with the generation exactly if items follow', async () => {
    expect(await page({ limit: 3 })).toEqual(['abc', cursor('0 a2 c')])
    expect(await page({ limit: 3, cursor: '0 a2 c' })).toEqual(['def', cursor('0 a5 f')])
    expect(await page({ limit: 3, cursor: '0 a5 f' })).toEqual(['g', null])
    expect(await page({ limit: 7 })).toEqual(['abcdefg', null])
    expect(await page({ limit: 6 })).toEqual(['abcdef', cursor('0 a5 f')])
    expect(await page({ limit: 3, cursor: '0 a6 g' })).toEqual(['', null])
  })

  test('reads as many entries as it needs, and not more often than needed', async () => {
    const readsOf = async (...query: Parameters<typeof page>) => {
      records.ranges = []
      await page(...query)
      return records.ranges.flat().map(({ limit }) => limit)
    }
    expect(await readsOf({ limit: 3 })).toEqual([4])
    expect(await readsOf({ limit: 3, cursor: '0 a2 c' })).toEqual([4])
    expect(await readsOf({ limit: 7 })).toEqual([8])
    expect(await readsOf({ limit: 2 }, isOpen)).toEqual([3, 3, 3])
    await setOrder({ generation: 1, maps: [{ from: 0, old: ['a0 a'], new: ['a0 a'] }] })
    expect(await readsOf({ limit: 3, cursor: '0 a0 a' })).toEqual([4, 4])
    expect(await readsOf({ limit: 3, cursor: '1 a0 a' })).toEqual([4])
  })

  test('is filled with items that match, from as many entries as it takes', async () => {
    expect(await page({ limit: 1 }, isOpen)).toEqual(['a', cursor('0 a0 a')])
    expect(await page({ limit: 1, cursor: '0 a0 a' }, isOpen)).toEqual(['e', cursor('0 a4 e')])
    expect(await page({ limit: 1, cursor: '0 a4 e' }, isOpen)).toEqual(['g', null])
    expect(await page({ limit: 2 }, isOpen)).toEqual(['ae', cursor('0 a4 e')])
    expect(await page({ limit: 3 }, isOpen)).toEqual(['aeg', null])
    expect(await page({ limit: 2 }, () => false)).toEqual(['', null])
  })

  test('leaves out an entry without a record', async () => {
    await records.store.commit('w', change({ remove: [keys.card('b')] }))
    expect(await page({ limit: 2 })).toEqual(['ac', cursor('0 a2 c')])
  })

  test('has a cursor with the generation of the list', async () => {
    await setOrder({ generation: 12, maps: [] })
    expect(await page({ limit: 2 })).toEqual(['ab', cursor('12 a1 b')])
    expect(await page({ limit: 2, cursor: '12 a1 b' })).toEqual(['cd', cursor('12 a3 d')])
  })

  test('continues behind the same item after a rebalancing', async () => {
    await setOrder({ generation: 2, maps: [{ from: 1, old: ['m a', 'n b', 'o c'], new: ['a0 a', 'a1 b', 'a2 c'] }] })
    expect(await page({ limit: 2, cursor: '1 n b' })).toEqual(['cd', cursor('2 a3 d')])
    expect(await page({ limit: 9, cursor: '1 n b' })).toEqual(['cdefg', null])
    // Everything before it has been moved away.
    expect(await page({ limit: 2, cursor: '1 a x' })).toEqual(['ab', cursor('2 a1 b')])
  })

  test.each([
    ['of a rebalancing that is not remembered', '0 a0 a'],
    ['of a generation that does not exist yet', '3 a0 a'],
  ])('refuses a cursor %s', async (_what, position) => {
    await setOrder({ generation: 2, maps: [{ from: 1, old: ['m a'], new: ['a0 a'] }] })
    await expect(page({ limit: 2, cursor: position })).rejects.toMatchObject({
      code: 'validation_failed',
      message: 'The request does not match what this operation accepts: "cursor" is too old: start again without it.',
      details: { members: { issues: [{ in: 'query', path: 'cursor', message: 'is too old: start again without it' }] } },
    })
  })
})
