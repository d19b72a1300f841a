import type { Change, Expectation, ReadRequest } from '../../src/store/port.ts'

const nothing: Expectation = { records: new Map(), indexes: new Map(), capacity: new Map() }
/** What a change relies on; nothing where it is not said. */
export const expecting = (part: Partial<Expectation>): Expectation => ({ ...nothing, ...part })
/** What to read; nothing where it is not said. */
export const reading = (part: Partial<ReadRequest>): ReadRequest => ({ records: [], ranges: [], counts: [], expect: nothing, ...part })
let revisions = 0
/** A change, in short, with a revision of its own. */
export const changing = (part: {
  put?: Record<string, object>
  remove?: string[]
  index?: Record<string, { add?: string[]; remove?: string[] }>
  expect?: Partial<Expectation>
}): Change => ({
  revision: `r${++revisions}`,
  expect: expecting(part.expect ?? {}),
  put: new Map(Object.entries(part.put ?? {})) as Change['put'],
  remove: new Set(part.remove),
  indexes: new Map(Object.entries(part.index ?? {}).map(([name, { add = [], remove = [] }]) => [name, { add, remove }])),
})
