import { lastWord } from '../indexes.ts'
import type { Appended, Change, Expectation, IndexRange, ReadRequest, Snapshot, Stored, Value } from '../port.ts'
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

/** What the script that commits gets. */
export interface EncodedChange {
  readonly request: string
  /** what others read of it (see `last-commits.ts`) */
  readonly line: string
  /** the records that are put, and then those that are appended, in the order of the request */
  readonly records: readonly string[]
}

export function encodeChange(change: Change): EncodedChange {
  const { revision, lease, expect, onlyRemoves, put, remove, indexes, append = NOTHING } = change
  const request = JSON.stringify({
    revision,
    lease,
    onlyRemoves,
    ...encodeExpectation(expect),
    capacity: [...expect.capacity],
    put: [...put.keys()],
    remove: [...remove],
    append: [...append].map(([index, { fetch, values }]) => [index, fetch, values.length]),
    changes: [...indexes].map(([name, entries]) => [name, entries.add, entries.remove]),
  })
  const values = [...put.values(), ...[...append.values()].flatMap((appended) => appended.values)]
  return { request, line: lineOf(change), records: values.map((value) => `${revision} ${JSON.stringify(value)}`) }
}

const NOTHING: ReadonlyMap<string, Appended> = new Map()

function encodeExpectation({ records, indexes }: Expectation) {
  return {
    records: [...records].map(([key, expected]) =>
      expected === null || typeof expected === 'string' ? [key, expected ?? ''] : [key, expected.revision, expected.members],
    ),
    indexes: [...indexes].map(([name, revision]) => [name, revision ?? '']),
  }
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
