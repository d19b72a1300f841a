import { describe, expect, test } from 'vitest'
import type { Column } from '../../src/model/column.ts'
import type { OrderRecord } from '../../src/model/order.ts'
import { findStart, readPosition, writePosition } from '../../src/resources/cards/positions.ts'
import { card } from '../support/records.ts'

const COLUMN = `col_${'0'.repeat(20)}`
const column = { id: COLUMN, position: 'b1' } as Column
const stale = '"cursor" is too old: start again without it.'

describe('the position in a cursor of a list of cards', () => {
  const ofCard = { card: card({ id: 'c1', position: 'a3' }), segment: { column, state: 'archived' } } as const

  test('names the places of the card and of its column, and the generations of their lists', () => {
    expect(writePosition({ generation: 2, maps: [] }, { generation: 7, maps: [] }, ofCard)).toBe(`2 b1 ${COLUMN} archived 7 a3 c1`)
    expect(writePosition(undefined, undefined, ofCard)).toBe(`0 b1 ${COLUMN} archived 0 a3 c1`)
  })

  const read = { columnGeneration: 2, columnEntry: `b1 ${COLUMN}`, columnId: COLUMN, cardGeneration: 7, cardEntry: 'a3 c1' }
  test.each([
    ['archived', 'archived'],
    ['active', 'active'],
    ['forged', 'active'],
  ])('is read; the state %s is %s', (state, expected) => {
    expect(readPosition(`2 b1 ${COLUMN} ${state} 7 a3 c1`)).toEqual({ ...read, state: expected })
  })

  test.each(['', '2 b1', '2 b1 col_1 active 7 a3 c1'])('is refused if it names no column: "%s"', (cursor) => {
    expect(() => readPosition(cursor)).toThrow(stale)
  })

  describe('after a rebalancing', () => {
    const at = { ...read, columnGeneration: 0, cardGeneration: 0, state: 'active' } as const
    const order = (old: string, now: string): OrderRecord => ({ generation: 1, maps: [{ from: 0, old: [old], new: [now] }] })
    const orders = [order(`b1 ${COLUMN}`, `a5 ${COLUMN}`), order('a3 c1', 'a9 c1')] as const

    test('belongs to the same card and column', () => {
      expect(findStart(at, ...orders)).toEqual({ ...at, columnEntry: `a5 ${COLUMN}`, cardEntry: 'a9 c1' })
    })

    test.each([
      ['columns', { columnGeneration: 2 }],
      ['cards', { cardGeneration: 2 }],
    ])('is refused if the list of %s has no such generation', (_list, generation) => {
      expect(() => findStart({ ...at, ...generation }, ...orders)).toThrow(stale)
    })
  })
})
