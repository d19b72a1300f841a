import { expect, test } from 'vitest'
import { beginningOf, hasAtMost } from '../../src/model/text.ts'

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

test.each([
  ['  One\n\ttwo  ', 7, 'One two'],
  ['One two three', 7, 'One tw…'],
  ['\u{1F600}'.repeat(7), 7, '\u{1F600}'.repeat(7)],
  ['\u{1F600}'.repeat(8), 7, `${'\u{1F600}'.repeat(6)}…`],
  // What is long is not what is shown.
  [`${' '.repeat(1000)}One two three`, 7, 'One tw…'],
  [' \n ', 7, ''],
])('the beginning of %j with %d characters is %j', (text, max, expected) => {
  expect(beginningOf(text, max)).toBe(expected)
})
