import { expect, test } from 'vitest'
import { isTemplate, placeholdersOf, resolveReference } from '../../src/store/references.ts'

const texts: Readonly<Record<string, unknown>> = { '0.a': 'x', '12.b_c': 'y', '1.n': 5 }
const memberOf = ({ index, member }: { index: number; member: string }) => texts[`${index}.${member}`]

test.each<[reference: string, key: string | null, placeholders: readonly (readonly [index: number, member: string])[]]>([
  ['card:1', 'card:1', []],
  ['{0.a}', 'x', [[0, 'a']]],
  ['a:{0.a}:b', 'a:x:b', [[0, 'a']]],
  [
    'a:{0.a}:{12.b_c}',
    'a:x:y',
    [
      [0, 'a'],
      [12, 'b_c'],
    ],
  ],
  [
    '{0.a}{0.a}',
    'xx',
    [
      [0, 'a'],
      [0, 'a'],
    ],
  ],
  ['a:{1.n}', null, [[1, 'n']]],
  [
    'a:{0.a}:{7.a}',
    null,
    [
      [0, 'a'],
      [7, 'a'],
    ],
  ],
])('the reference %s has the key %j', (reference, key, placeholders) => {
  expect(resolveReference(reference, memberOf)).toBe(key)
  expect(placeholdersOf(reference)).toEqual(placeholders.map(([index, member]) => ({ index, member })))
  expect(isTemplate(reference)).toBe(placeholders.length > 0)
})
