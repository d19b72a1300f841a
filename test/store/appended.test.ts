import { expect, test } from 'vitest'
import { appendedEntry, mayBeAppended, numberAppended } from '../../src/store/appended.ts'
import { change } from '../support/changes.ts'

test('appended records are numbered from the last entry of their index', () => {
  const changed = change({ put: { 'a:1': {} }, index: { i: { add: ['x 1'] } } })
  expect(numberAppended(changed, () => '5')).toBe(changed)
  const append = new Map([
    ['log:1', { fetch: 'e:', values: [{ n: 1 }, { n: 2 }] }],
    ['log:2', { fetch: 'f:', values: [{ n: 3 }] }],
  ])
  const lastOf = (index: string) => (index === 'log:1' ? '0000000000000009' : undefined)
  expect(numberAppended({ ...changed, append }, lastOf)).toEqual({
    ...changed,
    put: new Map<string, unknown>([
      ['a:1', {}],
      ['e:0000000000000010', { n: 1 }],
      ['e:0000000000000011', { n: 2 }],
      ['f:0000000000000001', { n: 3 }],
    ]),
    indexes: new Map([
      ['i', { add: ['x 1'], remove: [] }],
      ['log:1', { add: ['0000000000000010', '0000000000000011'], remove: [] }],
      ['log:2', { add: ['0000000000000001'], remove: [] }],
    ]),
    append: undefined,
  })
})

test.each([
  ['change:brd_1:' + appendedEntry(1), true],
  ['notice:usr_1:' + appendedEntry(9_999_999_999_999), true],
  ['change:brd_1:' + appendedEntry(1) + 'x', false],
  ['card:crd_123456789012345', false],
])('a change may have appended %s: %s', (key, expected) => {
  expect(mayBeAppended(key)).toBe(expected)
})
