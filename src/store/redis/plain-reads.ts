import type { Redis } from 'ioredis'
import { lastWord } from '../indexes.ts'
import type { ExpectedRecord, ReadRequest, Snapshot } from '../port.ts'
import { isTemplate } from '../references.ts'
import type { Connection } from './client.ts'
import { decodeStored } from './codec.ts'
import { commandOf, indexName, recordName } from './script-arguments.ts'

/** Of more expected records than this, a script reads only the revisions: records can be long. */
const MAX_EXPECTED = 16

/** What a range had when it was read before. */
export interface RememberedRange {
  readonly revision: string | null
  readonly entries: readonly string[]
}

/** The commands of a read, and what to make of their replies. Undefined: an index has changed since its range was remembered. */
export interface PlainRead {
  readonly commands: readonly (readonly [name: string, ...values: (string | number)[]])[]
  readonly snapshotOf: (replies: readonly unknown[]) => Snapshot | null | undefined
  /** how long all records together are, in characters */
  readonly lengthOf: (replies: readonly unknown[]) => number
}

/**
 * A read with plain commands, which take a fraction of the time of a script. What is expected is read too, and checked here. The
 * records of a range are read by the entries that it had before.
 * @param base the prefix of the keys of the partition, without the last colon
 * @param remembered for each range, what it had; undefined if that is not known
 * @returns undefined if it takes a script: it has templates, records of an unknown range, or expects many records
 */
export function planRead(base: string, request: ReadRequest, remembered: readonly (RememberedRange | undefined)[]): PlainRead | undefined {
  const { records, ranges, counts, expect } = request
  if (records.some(isTemplate) || expect.records.size > MAX_EXPECTED) return undefined
  if (ranges.some(({ fetch }, i) => fetch !== undefined && remembered[i] === undefined)) return undefined
  const fetched = ranges.map(({ fetch }, i) =>
    fetch === undefined ? [] : remembered[i]!.entries.map((entry) => recordName(base, fetch + lastWord(entry))),
  )
  const names = [...[...records, ...expect.records.keys()].map((key) => recordName(base, key)), ...fetched.flat()]
  const indexes = [...expect.indexes.keys(), ...ranges.map(({ index }) => index)]
  // Another read of the same transaction adds to the expectation before the reply comes.
  const expected = { records: [...expect.records.values()], indexes: [...expect.indexes.values()] }
  const plain = ranges.filter(({ fetch }) => fetch === undefined)
  const commands: [name: string, ...values: (string | number)[]][] = [
    ...plain.map((range): [string, ...(string | number)[]] => {
      const [command, first, last] = commandOf(range)
      return [command, indexName(base, range.index), first, last, 'LIMIT', 0, range.limit]
    }),
    ...counts.map((index): [string, string] => ['zcard', indexName(base, index)]),
  ]
  if (indexes.length > 0) commands.unshift(['hmget', `${base}:v`, ...indexes])
  if (names.length > 0) commands.unshift(['mget', ...names])

  const snapshotOf = (replies: readonly unknown[]): Snapshot | null | undefined => {
    const queue = [...replies]
    const texts = names.length > 0 ? [...(queue.shift() as (string | null)[])] : []
    const revisions = indexes.length > 0 ? [...(queue.shift() as (string | null)[])] : []
    const take = (count: number) => texts.splice(0, count)
    const own = take(records.length)
    const areMet = take(expected.records.length).every((text, i) => isAsExpected(expected.records[i]!, text))
    const areCurrent = revisions.splice(0, expected.indexes.length).every((revision, i) => revision === expected.indexes[i])
    if (!areMet || !areCurrent) return null
    if (ranges.some(({ fetch }, i) => fetch !== undefined && revisions[i] !== remembered[i]!.revision)) return undefined
    return {
      records: records.map((key, i) => ({ key, stored: decodeStored(own[i]!) })),
      ranges: ranges.map(({ fetch }, i) => ({
        revision: revisions[i]!,
        entries: fetch === undefined ? (queue.shift() as string[]) : remembered[i]!.entries,
        records: take(fetched[i]!.length).map(decodeStored),
      })),
      counts: queue as number[],
    }
  }
  const lengthOf = ([texts]: readonly unknown[]): number =>
    names.length === 0 ? 0 : (texts as (string | null)[]).reduce((sum, text) => sum + (text?.length ?? 0), 0)
  return { commands, snapshotOf, lengthOf }
}

/** Sends the commands of a read. Several are a transaction of Redis. */
export async function sendPlain(client: Connection, commands: PlainRead['commands']): Promise<unknown[]> {
  const [first] = commands
  if (commands.length === 1 && first![0] === 'mget') return [await client.mget(first!.slice(1) as string[])]
  // One write for all transactions of a moment, as the client does it for single commands: 65 µs of CPU a read instead of 109.
  const { stream } = client as Partial<Redis>
  stream?.cork()
  process.nextTick(() => stream?.uncork())
  const replies = await client
    .multi(commands.map((command) => [...command]))
    .exec()
    .catch((error: Error & { previousErrors?: Error[] }) => {
      // Redis has not begun. Why is in the reply to the command that it refused.
      throw error.previousErrors?.[0] ?? error
    })
  return replies!.map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}

function isAsExpected(expected: ExpectedRecord, text: string | null): boolean {
  if (expected === null || text === null) return expected === text
  if (typeof expected === 'string') return text.startsWith(`${expected} `)
  if (text.startsWith(`${expected.revision} `)) return true
  const { value } = decodeStored(text)!
  return Object.entries(expected.members).every(([name, member]) => value[name] === member)
}
