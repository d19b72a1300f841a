import { lastWord } from '../indexes.ts'
import type { Appended, Change, Expectation, ExpectedRecord, IndexRange, ReadRequest, Snapshot, Stored, Value } from '../port.ts'
import { lineOf } from './last-commits.ts'

/** The reply to a read. `rest` has the records of more keys. */
export type ReadReply = [
  records: [key: string | null, stored: string | null][],
  ranges: [revision: string | null, entries: string[], records: (string | null)[]][],
  counts: number[],
  rest: (string | null)[],
  /** the last commits of the partition (see `last-commits.ts`); null: nothing was ever written to it */
  commits: string | null,
]

/** Makes a record of what Redis has under a key. */
export type Decode = (key: string, text: string | null) => Stored | null

/** What one script reads of a request (see `READ`). */
interface ReadLimits {
  /** how many bytes of records it reads of a range; undefined: all */
  sizeOf?(range: IndexRange): number | undefined
  /** the keys of more records */
  readonly rest?: readonly string[]
  /** how many bytes it reads of these */
  readonly size?: number
  /** whether it reads one record at least, however long */
  readonly readsOne?: boolean
}

/** The request of the script that reads. */
export function encodeRead({ records, ranges, counts, expect }: ReadRequest, { sizeOf, rest = [], size, readsOne }: ReadLimits): string {
  const limited = ranges.map((range) => ({ ...encodeRange(range), size: sizeOf?.(range) }))
  return JSON.stringify({ ...encodeExpectation(expect), templates: records, ranges: limited, counts, rest, size, readsOne })
}

/** What the script that commits gets (see `COMMIT`). */
export interface EncodedChange {
  readonly revision: string
  /** what others read of it (see `last-commits.ts`) */
  readonly line: string
  readonly lists: string
  /** the records that are put, and then those that are appended, in the order of the lists */
  readonly texts: readonly string[]
}

/** @throws {TypeError} when a key, a name or an entry has a NUL: the script would take what follows for another item */
export function encodeChange(change: Change): EncodedChange {
  const { revision, lease = '', expect, onlyRemoves, listsAgain, put, remove, indexes, append = NOTHING } = change
  const { records, indexes: expected, capacity } = expect
  const items: (string | number)[] = [lease, onlyRemoves === true ? 1 : 0, records.size]
  for (const record of records) items.push(...encodeExpected(record))
  items.push(expected.size)
  for (const [name, one] of expected) items.push(name, one ?? '')
  items.push(capacity.size)
  for (const [name, limit] of capacity) items.push(name, limit)
  items.push(put.size)
  for (const key of put.keys()) items.push(key, listsAgain || records.get(key) == null ? 1 : 0)
  items.push(remove.size, ...remove, append.size)
  for (const [index, { fetch, values }] of append) items.push(index, fetch, values.length)
  items.push(indexes.size)
  for (const [name, { add, remove: removed }] of indexes) {
    items.push(name, add.length, removed.length)
    // One by one: a commit can have more entries than a function can have parameters.
    for (const entry of add) items.push(entry)
    for (const entry of removed) items.push(entry)
  }
  const lists = `${items.join('\0')}\0`
  if (lists.split('\0').length - 1 !== items.length) throw new TypeError('store: a key, a name or an entry has a NUL')
  const values = [...put.values(), ...[...append.values()].flatMap((appended) => appended.values)]
  return {
    revision,
    line: lineOf(change),
    lists,
    texts: values.map((value) => `${revision} ${JSON.stringify(value)}`),
  }
}

const NOTHING: ReadonlyMap<string, Appended> = new Map()

function encodeExpectation({ records, indexes }: Expectation) {
  return { records: [...records].map(encodeExpected), indexes: [...indexes].map(([name, revision]) => [name, revision ?? '']) }
}

/** @returns the key, the revision that the record must have or else the members, as JSON. "": it must be absent, or have the revision */
function encodeExpected([key, expected]: readonly [string, ExpectedRecord]): [string, string, string] {
  if (expected === null || typeof expected === 'string') return [key, expected ?? '', '']
  return [key, expected.revision, JSON.stringify(expected.members)]
}

function encodeRange({ index, after, before, reverse, limit, fetch }: IndexRange) {
  return { index, after, before, reverse: reverse === true, limit, fetch }
}

/** @param requested the ranges that were read */
export function decodeSnapshot([records, ranges, counts]: ReadReply, requested: readonly IndexRange[], decode: Decode): Snapshot {
  return {
    records: records.map(([key, text]) => ({ key, stored: key === null ? null : decode(key, text) })),
    ranges: ranges.map(([revision, entries, fetched], i) => ({
      revision,
      entries,
      records: fetched.map((text, j) => decode(requested[i]!.fetch! + lastWord(entries[j]!), text)),
    })),
    counts,
  }
}

/** Whether the text of a record has a revision. @param revision undefined: there was no record */
export function hasRevision(text: string | null, revision: string | undefined): boolean {
  if (text === null || revision === undefined) return text === null && revision === undefined
  return text.startsWith(revision) && text[revision.length] === ' '
}

/** A record as Redis stores it: its revision, a space, and JSON. */
export function decodeStored(text: string | null): Stored | null {
  if (text === null) return null
  const space = text.indexOf(' ')
  return { revision: text.slice(0, space), value: JSON.parse(text.slice(space + 1)) as Value }
}
