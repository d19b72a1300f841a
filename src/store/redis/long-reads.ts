import { lastWord } from '../indexes.ts'
import type { ExpectedRecord, ReadRequest, Snapshot, Stored } from '../port.ts'
import { decodeStored } from './codec.ts'
import { encodeRead, type ScriptArguments } from './script-arguments.ts'

/** How many bytes of records one script reads, so that it takes a few milliseconds. Only the last record may exceed it. */
export const SCRIPT_BYTES = 1024 * 1024
/** How often a long read is begun in steps before it is done in one. */
const ATTEMPTS = 3

/** The reply of the script that reads. The last member has the records of `rest`. */
export type ReadReply = [
  keys: (string | null)[],
  records: (string | null)[],
  ranges: [revision: string | null, entries: string[], records: (string | null)[]][],
  counts: number[],
  rest: (string | null)[],
]

/** Runs the script that reads. */
type Send = (values: ScriptArguments) => Promise<ReadReply | null>

/**
 * Reads a snapshot. Long ones are read in several steps, so that no script takes long. Each step requires that nothing has
 * changed which the steps before it have read. If that fails several times, one step reads everything: a read must not fail
 * because others write.
 * @param base the prefix of the keys of the partition, without the last colon
 * @returns null when the expectation is not met
 */
export async function readInSteps(send: Send, base: string, request: ReadRequest): Promise<Snapshot | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const reply = await send(encodeRead(base, request, SCRIPT_BYTES))
    if (reply === null) return null
    const snapshot = await readRest(send, base, request, decodeSnapshot(reply))
    if (snapshot !== undefined) return snapshot
  }
  const reply = await send(encodeRead(base, request))
  return reply === null ? null : decodeSnapshot(reply)
}

function decodeSnapshot([keys, records, ranges, counts]: ReadReply): Snapshot {
  return {
    records: keys.map((key, i) => ({ key, stored: decodeStored(records[i]!) })),
    ranges: ranges.map(([revision, entries, fetched]) => ({ revision, entries, records: fetched.map(decodeStored) })),
    counts,
  }
}

/** Ends partial ranges at the last record that was read. */
function cutPartial({ ranges: requested }: ReadRequest, snapshot: Snapshot): Snapshot {
  const ranges = snapshot.ranges.map((range, i) => {
    const { fetch, partial } = requested[i]!
    const { length } = range.records
    if (fetch === undefined || partial !== true || length === range.entries.length) return range
    return { ...range, entries: range.entries.slice(0, length), isCut: true }
  })
  return { ...snapshot, ranges }
}

/** @returns undefined when something has changed since the first step */
async function readRest(send: Send, base: string, request: ReadRequest, first: Snapshot): Promise<Snapshot | undefined> {
  const missing = first.ranges.flatMap(({ entries, records }, i) => {
    const { fetch, partial } = request.ranges[i]!
    return fetch === undefined || partial === true ? [] : entries.slice(records.length).map((entry) => fetch + lastWord(entry))
  })
  if (missing.length === 0) return cutPartial(request, first)
  const records = new Map<string, ExpectedRecord>(request.expect.records)
  const expectRead = (key: string, stored: Stored | null): unknown => records.set(key, stored?.revision ?? null)
  const indexes = new Map(request.expect.indexes)
  for (const { key, stored } of first.records) if (key !== null) expectRead(key, stored)
  for (const [i, range] of first.ranges.entries()) {
    const { index, fetch } = request.ranges[i]!
    indexes.set(index, range.revision)
    for (const [j, stored] of range.records.entries()) expectRead(fetch! + lastWord(range.entries[j]!), stored)
  }
  const rest: (Stored | null)[] = []
  let counts = first.counts
  while (rest.length < missing.length) {
    const expect = { ...request.expect, records, indexes }
    const step = { records: [], ranges: [], counts: request.counts, expect }
    const reply = await send(encodeRead(base, step, SCRIPT_BYTES, missing.slice(rest.length)))
    if (reply === null) return undefined
    counts = reply[3]
    for (const text of reply[4]) {
      const stored = decodeStored(text)
      expectRead(missing[rest.length]!, stored)
      rest.push(stored)
    }
  }
  const ranges = first.ranges.map((range, i) => {
    const { fetch, partial } = request.ranges[i]!
    if (fetch === undefined || partial === true) return range
    return { ...range, records: [...range.records, ...rest.splice(0, range.entries.length - range.records.length)] }
  })
  return cutPartial(request, { records: first.records, ranges, counts })
}
