import { expect, test } from 'vitest'
import { bodyOf, piecesOf, type Pieces } from '../../src/http/json-body.ts'

const record = (id: string) => Object.freeze({ id, title: `Käse ${id}` })
const made = (records: readonly object[]) => piecesOf(records, () => undefined) as Pieces
const bodyFor = (records: readonly object[], cursor: string | null) => bodyOf(made(records), cursor)
const expected = (records: readonly object[], cursor: string | null) => JSON.stringify({ data: records, page: { next_cursor: cursor } })

test('the body of a list is kept for the same records and the same cursor only', () => {
  const [one, two, three] = [record('1'), record('2'), record('3')]
  const lists = [
    [[one, two], null],
    [[one, two], 'further'],
    [[one, three], null],
    [[one], null],
    [[one, two, three], null],
    [[two, one], null],
  ] as const
  // The JSON of a record is kept from its second request on.
  for (let round = 0; round < 3; round++)
    for (const [records, cursor] of lists) expect(bodyFor(records, cursor).toString()).toBe(expected(records, cursor))
  const first = bodyFor([one, two], null)
  expect(bodyFor([one, two], null)).toBe(first)
  expect(bodyFor([one, record('2')], null).toString()).toBe(expected([one, two], null))
})

test('a list whose first record is long, and not kept, has its own body each time', () => {
  const long = { id: '1', title: 'x'.repeat(10_000) }
  const asked = () => bodyFor([Object.freeze({ ...long })], null)
  const [first, second] = [asked(), asked()]
  expect(second).not.toBe(first)
  expect([first.toString(), second.toString()]).toEqual([expected([long], null), expected([long], null)])
})

test.each([
  ['a text', 'x'],
  ['an object', { id: '1' }],
  ['a list', [record('1'), record('2')]],
  ['an object whose last member is a long text', { cards: [record('1')], note: 'x'.repeat(1000) }],
])('the size of an answer that is %s is known once its JSON is made, because it is charged', (_what, data) => {
  const lengths: number[] = []
  void piecesOf(data, (length) => void lengths.push(length))
  expect(lengths.at(-1)).toBe(JSON.stringify(data).length)
})
