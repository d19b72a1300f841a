import { expect, test } from 'vitest'
import { hasAtMost } from '../../src/model/text.ts'

test.each([
  ['', 0, true],
  ['x', 0, false],
  ['xx', 2, true],
  ['xxx', 2, false],
  // One character of two UTF-16 units.
  ['\u{1f98a}\u{1f98a}', 2, true],
  ['\u{1f98a}\u{1f98a}\u{1f98a}', 2, false],
  // A letter and its accent are two characters.
  ['e\u0301', 1, false],
])('%j has at most %i characters: %s', (text, max, expected) => {
  expect(hasAtMost(max, text)).toBe(expected)
})
