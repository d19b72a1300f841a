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

/** What a range of a sorted set of texts is. It shares no code with the index. */
function expectedRange(all: ReadonlySet<string>, { after, before, reverse, limit }: Range): string[] {
  const within = [...all].filter((one) => (after === undefined || one > after) && (before === undefined || one < before)).toSorted()
  return (reverse ? within.toReversed() : within).slice(0, limit)
}

test('a range has the entries between its bounds and the keys of their records, whatever was added and removed', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 5, 1000), fc.array(step, { maxLength: 12 }), (long, steps) => {
      const index = new SortedIndex(long)
      const all = new Set<string>()
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
