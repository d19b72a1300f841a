import { describe, expect, test } from 'vitest'
import { matcher } from '../../src/resources/cards/filter.ts'
import { fold, searchedWords } from '../../src/resources/cards/words.ts'
import type { Card } from '../../src/model/card.ts'
import { seededRandom } from '../support/random.ts'

/** The same by replacements, which take ten times as long. */
function foldPlainly(text: string): string {
  const plain: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ' }
  const bare = text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
  return bare.replaceAll(/[ßæœøłđıς]/g, (letter) => plain[letter]!).normalize('NFC')
}

test.each([
  ['Ünïcödé', 'unicode'],
  ['STRASSE Straße STRAẞE', 'strasse strasse strasse'],
  ['Þór Łódź Ærø Œuvre Đà Nẵng', 'þor lodz aero oeuvre da nang'],
  ['İstanbul ılık', 'istanbul ilik'],
  ['ΟΔΥΣΣΕΎΣ Οδυσσεύς', 'οδυσσευσ οδυσσευσ'],
  ['Ёлка йод', 'елка иод'],
  ['e\u0301\u0323 \u0301', 'e '],
  ['が か\u3099', 'が が'],
  ['한국 \u1112\u1161\u11ab국', '한국 한국'],
  ['“Quotes” – 🎉 ①', '“quotes” – 🎉 ①'],
  ['\0\u0001a', '\0\u0001a'],
  ['\0\u0001ä', '\0\u0001a'],
  ['\ud800ä', '\ud800a'],
])('%j is folded to %j', (text, folded) => {
  expect({ fold: fold(text), foldPlainly: foldPlainly(text) }).toEqual({ fold: folded, foldPlainly: folded })
})

test('each letter of the table is folded as replacements would, in texts of any kind', () => {
  for (let code = 0x80; code < 0x2000; code++) {
    const letter = String.fromCharCode(code)
    // A mark alone has nothing to stand on.
    if (/\p{M}/u.test(letter)) continue
    expect([code, fold(`a${letter}b`)]).toEqual([code, foldPlainly(`a${letter}b`)])
  }
  const random = seededRandom(7)
  const letters = [...'aeÄößẞçÅŁσΣςй한がか\u0301\u3099 –“🎉ﬁ']
  for (let run = 0; run < 500; run++) {
    const text = Array.from({ length: 12 }, () => letters[random(letters.length)]).join('')
    expect(fold(text)).toBe(foldPlainly(text))
  }
})

test.each([
  ['alpha gamma', ['alpha', 'gamma']],
  ['  Alpha\n ALPHA\u00a0beta ', ['alpha', 'beta']],
  ['"alpha beta" gamma', ['alpha beta', 'gamma']],
  ['" Straße  2 "x', ['strasse 2', 'x']],
  ['"alpha\u00a0\n beta"', ['alpha beta']],
  ['12" "" " "', ['12"']],
  ['"" " "', []],
  ['say "hi there', ['say', '"hi', 'there']],
  ['\u0301', []],
])('the words of %j are %j', (q, words) => {
  expect(searchedWords(q)).toEqual(words)
})

test('the white space in a text and in a phrase can differ, and no sign of a phrase is a pattern', () => {
  for (const space of [' ', '  ', '\n', '\r\n', '\t', '\u00a0', '\u2003', '\u3000']) {
    const card = { title: `a${space}(b)${space}c*`, description: '' } as Card
    expect([space, matcher({ archived: false, q: '"a (b) c*"' })(card)]).toEqual([space, true])
    expect([space, matcher({ archived: false, q: '"a b c"' })(card)]).toEqual([space, false])
  }
  expect(matcher({ archived: false, q: '"a b"' })({ title: 'a', description: 'b ab' } as Card)).toBe(false)
})

describe('a card with the title "Alpha beta" and a text', () => {
  const card = { title: 'Alpha beta', description: 'Größe und Café, gamma-2\nnext line' } as Card
  test.each([
    ['alpha gamma', true],
    ['GAMMA alpha', true],
    ['beta alpha', true],
    ['"beta alpha"', false],
    ['"alpha beta"', true],
    ['"beta größe"', false],
    ['alph gam', true],
    ['alpha delta', false],
    ['groesse', false],
    ['grosse cafe', true],
    ['GRÖSSE CAFÉ', true],
    ['Cafe\u0301', true],
    ['gamma-2', true],
    ['next line', true],
    ['"next line" "alpha"', true],
    ['"gamma-2 next"', true],
    ['"gamma-2\u00a0next  line"', true],
    ['"GROSSE   UND"', true],
    ['"e x"', false],
    ['"gamma.2 next"', false],
    ['\u0301', false],
  ])('is found by %j: %s', (q, isFound) => {
    expect(matcher({ archived: false, q })(card)).toBe(isFound)
  })
})
