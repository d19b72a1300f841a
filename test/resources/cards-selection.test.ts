import { describe, expect, test } from 'vitest'
import type { Card } from '../../src/model/card.ts'
import { Selection } from '../../src/resources/cards/selection.ts'

const card = (title: string, description = '', id = title) => ({ id, title, description }) as Card
const select = (limit: number, isDescending = false) => new Selection(limit, ({ title }) => title, isDescending)
const titles = (selection: Selection) => selection.cards.map((chosen) => chosen.card.title).join('')
/** The length of a page. */
const MIB = 1024 * 1024

describe('a selection of cards', () => {
  test.each([
    [false, 'abc', 'c'],
    [true, 'gfe', 'e'],
  ])('has the first cards of the order, whichever are offered first (descending: %s)', (isDescending, chosen, bound) => {
    for (const offered of ['abcdefg', 'gfedcba', 'dagbfce']) {
      const selection = select(3, isDescending)
      for (const title of offered) if (selection.accepts(card(title))) selection.add(card(title))
      expect({ offered, titles: titles(selection), bound: selection.bound, mayHaveMore: selection.mayHaveMore }).toEqual({
        offered,
        titles: chosen,
        bound,
        mayHaveMore: true,
      })
    }
  })

  test('accepts every card until it is full, and then those that precede the last one, or are chosen', () => {
    const selection = select(2)
    expect(selection.add(card('d'))).toEqual([])
    expect({ bound: selection.bound, mayHaveMore: selection.mayHaveMore, accepts: selection.accepts(card('z')) }).toStrictEqual({
      bound: undefined,
      mayHaveMore: false,
      accepts: true,
    })
    selection.add(card('b'))
    expect(['a', 'c', 'd', 'e'].map((title) => selection.accepts(card(title)))).toEqual([true, true, true, false])
    expect(selection.add(card('c'))).toEqual([card('d')])
  })

  test('has one version of a card: the one that was offered last', () => {
    const selection = select(3)
    for (const one of [card('b', '', '1'), card('c', '', '2'), card('a', '', '1')]) selection.add(one)
    expect(selection.cards).toEqual([
      { place: 'a', card: card('a', '', '1') },
      { place: 'c', card: card('c', '', '2') },
    ])
  })

  test('ends where a page of long cards ends, so that few of them are in memory', () => {
    const long = 'x'.repeat(0.4 * MIB)
    const selection = select(100)
    for (const title of 'fedcba') selection.add(card(title, long))
    expect({ titles: titles(selection), bound: selection.bound, mayHaveMore: selection.mayHaveMore }).toEqual({
      titles: 'abc',
      bound: 'c',
      mayHaveMore: true,
    })
    expect(selection.accepts(card('d'))).toBe(false)
    // A card that is longer than a page is alone on one.
    const longest = select(100)
    for (const title of 'cba') longest.add(card(title, 'x'.repeat(2 * MIB)))
    expect({ titles: titles(longest), mayHaveMore: longest.mayHaveMore }).toEqual({ titles: 'ab', mayHaveMore: true })
  })
})
