import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SortedIndex } from '../../src/store/sorted-index.ts'
import { runs } from '../support/effort.ts'

const entry = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 30 })).map(([place, id]) => `${place} ${id}`)
const entries = fc.array(entry, { maxLength: 6 })
const bound = fc.option(entry, { nil: undefined })
const range = fc.record({ after: bound, before: bound, reverse: fc.boolean(), limit: fc.integer({ min: 1, max: 8 }) })
// Not each change is followed by a read: entries of a long index then wait for their places.
const step = fc.record({ add: entries, remove: entries, range: fc.option(range), fetch: fc.constantFrom('card:', 'change:one:') })

interface Range {
  readonly after: string | undefined
  readonly before: string | undefined
  readonly reverse: boolean
  readonly limit: number
}

/** As many that some entries may wait for their places. */
const FILLING = Array.from({ length: 110 }, (_, i) => `${i % 10} ${Math.floor(i / 10) * 3}`)

/** What a range of a sorted set of texts is. It shares no code with the index. */
function expectedRange(all: ReadonlySet<string>, { after, before, reverse, limit }: Range): string[] {
  const within = [...all].filter((one) => (after === undefined || one > after) && (before === undefined || one < before)).toSorted()
  return (reverse ? within.toReversed() : within).slice(0, limit)
}

test('a range has the entries between its bounds and the keys of their records, whatever was added and removed', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 110, 1000), fc.boolean(), fc.array(step, { maxLength: 12 }), (long, isFilled, steps) => {
      const index = new SortedIndex(long)
      const all = new Set(isFilled ? FILLING : [])
      index.change([...all], [], 'revision')
      for (const { add, remove, range: asked, fetch } of steps) {
        index.change(add, remove, 'revision')
        for (const one of remove) all.delete(one)
        for (const one of add) all.add(one)
        expect(index.size).toBe(all.size)
        if (asked === null) continue
        const expected = expectedRange(all, asked)
        const request = { index: 'any', ...asked }
        expect(index.range(request)).toEqual(expected)
        expect(index.keysOf(request, fetch)).toEqual(expected.map((one) => fetch + one.split(' ')[1]))
      }
    }),
    runs(300),
  )
})

test('an entry that waits for its place is added once, also when the index has become shorter', () => {
  const index = new SortedIndex(FILLING.length)
  index.change(FILLING, [], 'r1')
  index.change(['1 1'], [], 'r2')
  index.change(['1 1'], [FILLING[0]!], 'r3')
  expect({ size: index.size, found: index.all().filter((one) => one === '1 1') }).toEqual({ size: FILLING.length, found: ['1 1'] })
})
