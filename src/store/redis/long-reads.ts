import { lastWord } from '../indexes.ts'
import type { ExpectedRecord, ReadRequest, Snapshot, Stored } from '../port.ts'
import { decodeSnapshot, decodeStored, encodeRead, type ReadReply } from './codec.ts'

/** How many bytes of records one script reads, so that it takes a few milliseconds. Only the last record may exceed it. */
const SCRIPT_BYTES = 1024 * 1024
/** How often a long read is begun in steps before it is done in one. */
const ATTEMPTS = 3

/** Sends a request to the script that reads. */
type Send = (request: string) => Promise<ReadReply | null>

/**
 * Reads a snapshot. Long ones are read in several steps, so that no script takes long. Each step requires that nothing has
 * changed which the steps before it have read. If that fails several times, one step reads everything: a read must not fail
 * because others write.
 * @returns null when the expectation is not met
 */
export async function readInSteps(send: Send, request: ReadRequest): Promise<Snapshot | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const reply = await send(encodeRead(request, SCRIPT_BYTES))
    if (reply === null) return null
    const snapshot = await readRest(send, request, decodeSnapshot(reply))
    if (snapshot !== undefined) return snapshot
  }
  const reply = await send(encodeRead(request))
  return reply === null ? null : decodeSnapshot(reply)
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
async function readRest(send: Send, request: ReadRequest, first: Snapshot): Promise<Snapshot | undefined> {
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
    const reply = await send(encodeRead(step, SCRIPT_BYTES, missing.slice(rest.length)))
    if (reply === null) return undefined
    counts = reply[2]
    for (const text of reply[3]) {
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
