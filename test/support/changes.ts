import { NO_EXPECTATION, type Change, type Expectation, type ReadRequest, type Template } from '../../src/store/port.ts'

/** An expectation. Missing members are empty. */
export const expectation = (part: Partial<Expectation>): Expectation => ({ ...NO_EXPECTATION, ...part })

/** A read request. Missing members are empty. */
export const readRequest = (part: Partial<ReadRequest>): ReadRequest => ({
  records: [],
  ranges: [],
  counts: [],
  expect: NO_EXPECTATION,
  ...part,
})

/** A template: in "board:0.board_id", the member "board_id" of the first record of the read. */
export const template = (text: string): Template =>
  text.split(/(\d+\.\w+)/).map((part) => {
    const [index, member] = part.split('.')
    return member === undefined ? part : { index: Number(index), member }
  })

let revisions = 0
/** A change with a new revision. Missing members are empty. */
export const change = (part: {
  put?: Record<string, object>
  remove?: string[]
  index?: Record<string, { add?: string[]; remove?: string[] }>
  append?: Record<string, { fetch: string; values: object[] }>
  expect?: Partial<Expectation>
}): Change => ({
  revision: `r${++revisions}`,
  expect: expectation(part.expect ?? {}),
  put: new Map(Object.entries(part.put ?? {})) as Change['put'],
  remove: new Set(part.remove),
  indexes: new Map(Object.entries(part.index ?? {}).map(([name, { add = [], remove = [] }]) => [name, { add, remove }])),
  append: part.append && (new Map(Object.entries(part.append)) as Change['append']),
})
