import { lastWord } from '../indexes.ts'
import type { ExpectedRecord, IndexRange, ReadRequest, Snapshot, Stored } from '../port.ts'
import { decodeSnapshot, encodeRead, type Decode, type ReadReply } from './codec.ts'

/** How many bytes of records the first script of a read may read. Most reads need no other one. Any number of requests do it at once. */
export const FIRST_BYTES = 128 * 1024
/**
 * How many bytes of records each further script reads, so that its reply is sent and decoded in a few milliseconds. Only one long record
 * may exceed it.
 */
const STEP_BYTES = 256 * 1024
/** How much is read for partial ranges before they are cut. */
const PAGE_BYTES = 1024 * 1024
/** How often a long read is begun in steps before it is done in one. */
const ATTEMPTS = 3

/** Sends a request to the script that reads. */
type Send = (request: string) => Promise<ReadReply | null>

/**
 * Reads a snapshot. Long ones are read in several steps, so that neither a script nor the decoding of its reply takes long. Each step
 * requires that nothing has changed which the steps before it have read. If that fails several times, one step reads everything: a
 * read must not fail because others write.
 * @param decode is called right after the reply that has the record
 * @returns null when the expectation is not met
 */
export async function readInSteps(send: Send, request: ReadRequest, decode: Decode): Promise<Snapshot | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const reply = await send(encodeRead(request, { sizeOf: () => FIRST_BYTES }))
    if (reply === null) return null
    const snapshot = await readRest(send, request, decodeSnapshot(reply, request.ranges, decode), decode)
    if (snapshot !== undefined) return snapshot
  }
  await request.beforeStep?.()
  const reply = await send(encodeRead(request, { sizeOf: ({ partial }) => (partial === true ? PAGE_BYTES : undefined), readsOne: true }))
  return reply === null ? null : cutPartial(request, decodeSnapshot(reply, request.ranges, decode))
}

/** Ends partial ranges at the last record that was read. */
function cutPartial({ ranges: requested }: ReadRequest, snapshot: Snapshot): Snapshot {
  const ranges = snapshot.ranges.map((range, i) => {
    const { length } = range.records
    if (requested[i]!.fetch === undefined || length === range.entries.length) return range
    return { ...range, entries: range.entries.slice(0, length), isCut: true }
  })
  return { ...snapshot, ranges }
}

/** A record that the first step has left out. */
interface Missing {
  readonly key: string
  readonly range: IndexRange
  /** the records of its range that were read */
  readonly records: (Stored | null)[]
}

/**
 * Reads what the first step has left out.
 * @returns undefined when something has changed since
 */
async function readRest(send: Send, request: ReadRequest, first: Snapshot, decode: Decode): Promise<Snapshot | undefined> {
  const ranges = first.ranges.map((range) => ({ ...range, records: [...range.records] }))
  let missing = ranges.flatMap(({ entries, records }, i): Missing[] => {
    const range = request.ranges[i]!
    if (range.fetch === undefined) return []
    return entries.slice(records.length).map((entry) => ({ key: range.fetch + lastWord(entry), range, records }))
  })
  if (missing.length === 0) return first
  const { records, indexes } = expectationAfter(request, first)
  let { counts } = first
  let length = 0
  while (missing.length > 0) {
    await request.beforeStep?.()
    const step = { records: [], ranges: [], counts: request.counts, expect: { ...request.expect, records, indexes } }
    const reply = await send(encodeRead(step, { rest: missing.map(({ key }) => key), size: STEP_BYTES, readsOne: true }))
    if (reply === null) return undefined
    counts = reply[2]
    for (const [i, text] of reply[3].entries()) {
      const stored = decode(missing[i]!.key, text)
      records.set(missing[i]!.key, stored?.revision ?? null)
      missing[i]!.records.push(stored)
      length += text?.length ?? 0
    }
    missing = missing.slice(reply[3].length)
    if (length >= PAGE_BYTES) missing = missing.filter(({ range }) => range.partial !== true)
  }
  return cutPartial(request, { records: first.records, ranges, counts })
}

/** What must still be true at the second step: what the request expects, and what the first step has read. */
function expectationAfter({ ranges, expect }: ReadRequest, first: Snapshot) {
  const records = new Map<string, ExpectedRecord>(expect.records)
  const indexes = new Map(expect.indexes)
  for (const { key, stored } of first.records) if (key !== null) records.set(key, stored?.revision ?? null)
  for (const [i, range] of first.ranges.entries()) {
    const { index, fetch } = ranges[i]!
    indexes.set(index, range.revision)
    for (const [j, stored] of range.records.entries()) records.set(fetch! + lastWord(range.entries[j]!), stored?.revision ?? null)
  }
  return { records, indexes }
}
