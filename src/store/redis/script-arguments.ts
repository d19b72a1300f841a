import type { Appended, Change, Expectation, IndexRange, ReadRequest, Value } from '../port.ts'
import { encodeStored } from './codec.ts'

/** The arguments of a script after its key, in the order in which it takes them. */
export type ScriptArguments = readonly string[]

/** Ends a list. */
const END = ''
/** In place of something that there is not. */
const NONE = '-'

/**
 * The arguments of the script that reads.
 * @param base the prefix of the keys of the partition, without the last colon
 * @param size how many bytes it may read for ranges and `rest`
 * @param rest the keys of more records
 */
export function encodeRead(
  base: string,
  { records, ranges, counts, expect }: ReadRequest,
  size?: number,
  rest: readonly string[] = [],
): ScriptArguments {
  return [
    size === undefined ? '' : String(size),
    ...encodeExpectation(base, expect, []),
    ...list(records),
    ...list(ranges.flatMap((range) => encodeRange(base, range))),
    ...list(counts.map((index) => indexName(base, index))),
    ...list(rest.map((key) => recordName(base, key))),
  ]
}

/** The arguments of the script that commits, but for the first two. */
export function encodeChange(base: string, change: Change): ScriptArguments {
  const { revision, turn = '', expect, reduces, put, remove, indexes, append = NOTHING } = change
  const store = (value: Value): string => encodeStored(revision, value)
  return [
    revision,
    turn,
    reduces === true ? '1' : '0',
    ...encodeExpectation(base, expect, [`${base}:c:${revision}`, `${base}:t`, `${base}:d`]),
    ...list([...expect.capacity].flatMap(([index, max]) => [indexName(base, index), String(max)])),
    ...[...append].flatMap(([index, { fetch, values }]) => [index, fetch, ...list(values.map(store))]),
    END,
    ...list([...put].flatMap(([key, value]) => [key, recordName(base, key), store(value)])),
    ...list([...remove].map((key) => recordName(base, key))),
    ...list([...remove]),
    ...list([...indexes].flatMap(([index, entries]) => (isOneEntry(entries) ? [index, ...entries.add] : []))),
    ...[...indexes].flatMap(([index, entries]) =>
      isOneEntry(entries) ? [] : [index, ...list(entries.remove), ...list(entries.add.flatMap((entry) => ['0', entry]))],
    ),
    END,
  ]
}

const NOTHING: ReadonlyMap<string, Appended> = new Map()

/** The name of a record in Redis. */
export function recordName(base: string, key: string): string {
  return `${base}:r:${key}`
}

/** The name of an index in Redis. */
export function indexName(base: string, index: string): string {
  return `${base}:i:${index}`
}

/** The command that reads a range, and its bounds. */
export function commandOf({ after, before, reverse }: IndexRange): [command: string, first: string, last: string] {
  const low = after === undefined ? '-' : `(${after}`
  const high = before === undefined ? '+' : `(${before}`
  return reverse === true ? ['zrevrangebylex', high, low] : ['zrangebylex', low, high]
}

function encodeRange(base: string, range: IndexRange): string[] {
  const [command, first, last] = commandOf(range)
  return [command, range.index, first, last, String(range.limit), range.fetch === undefined ? NONE : recordName(base, range.fetch)]
}

/** @param others names that must not exist either */
function encodeExpectation(base: string, { records, indexes }: Expectation, others: readonly string[]): string[] {
  const absent: string[] = [...others]
  const present: string[] = []
  for (const [key, expected] of records) {
    const name = recordName(base, key)
    if (expected === null) {
      absent.push(name)
      continue
    }
    const [revision, members] = typeof expected === 'string' ? [expected, NONE] : [expected.revision, JSON.stringify(expected.members)]
    // A record begins with its revision and a space.
    present.push(name, String(revision.length), `${revision} `, members)
  }
  return [...list(absent), ...list(present), ...list([...indexes].flatMap(([index, revision]) => [index, revision ?? NONE]))]
}

/** Whether it is the most frequent change of an index: one new entry. */
function isOneEntry({ add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] }): boolean {
  return add.length === 1 && remove.length === 0
}

/** A list as the scripts take it. */
function list(items: readonly string[]): string[] {
  if (items.includes(END)) throw new RangeError('Redis stores no empty keys and entries')
  return [...items, END]
}
