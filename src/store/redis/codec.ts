import type { Change, Expectation, IndexRange, ReadRequest, Snapshot, Stored, Value } from '../port.ts'

/** The reply to a read. */
export type ReadReply = [
  records: [key: string | null, stored: string | null][],
  ranges: [revision: string | null, entries: string[], records: (string | null)[]][],
  counts: number[],
]

/** The request of the script that reads. */
export function encodeRead({ records, ranges, counts, expect }: ReadRequest): string {
  return JSON.stringify({ ...encodeExpectation(expect), references: records, ranges: ranges.map(encodeRange), counts })
}

/** The request of the script that commits. */
export function encodeChange({ revision, turn, expect, reduces, put, remove, indexes }: Change): string {
  return JSON.stringify({
    revision,
    turn,
    reduces,
    ...encodeExpectation(expect),
    capacity: [...expect.capacity],
    put: [...put].map(([key, value]) => [key, JSON.stringify(value)]),
    remove: [...remove],
    changes: [...indexes].map(([name, entries]) => [name, entries.add, entries.remove]),
  })
}

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

export function decodeSnapshot([records, ranges, counts]: ReadReply): Snapshot {
  return {
    records: records.map(([key, text]) => ({ key, stored: decodeStored(text) })),
    ranges: ranges.map(([revision, entries, fetched]) => ({ revision, entries, records: fetched.map(decodeStored) })),
    counts,
  }
}

/** A record as Redis stores it: its revision, a space, and JSON. */
export function decodeStored(text: string | null): Stored | null {
  if (text === null) return null
  const space = text.indexOf(' ')
  return { revision: text.slice(0, space), value: JSON.parse(text.slice(space + 1)) as Value }
}
