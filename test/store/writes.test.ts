import { expect, test } from 'vitest'
import { merged } from '../../src/store/writes.ts'

// A driver may leave out the last entries of a range. What comes after them is in a later page, and so is what is added there.
test.each<[order: string, reverse: boolean, stored: string[], isCut: boolean, expected: string[]]>([
  ['in order', false, ['b', 'd', 'f'], false, ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
  ['in order', false, ['b', 'd', 'f'], true, ['a', 'b', 'c', 'd', 'e', 'f']],
  ['in reverse order', true, ['f', 'd', 'b'], false, ['g', 'f', 'e', 'd', 'c', 'b', 'a']],
  ['in reverse order', true, ['f', 'd', 'b'], true, ['g', 'f', 'e', 'd', 'c', 'b']],
])('entries are added to a page that is read %s (reversed: %s) and has %j (cut: %s)', (_order, reverse, stored, isCut, expected) => {
  const add = ['a', 'c', 'e', 'g']
  expect(merged(stored, { add, remove: [] }, { limit: 9, reverse }, isCut)).toEqual(expected)
})
