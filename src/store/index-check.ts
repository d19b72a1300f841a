import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomText, type RandomSource } from '../model/ids.ts'
import { ownersOf } from './indexes.ts'
import { entriesOf, type IndexEntry } from './indexing.ts'
import type { Change, Expectation, IndexRange, Snapshot, Store, Stored, Value } from './port.ts'

/**
 * Compares the indexes of a partition with its records. Each comparison is one snapshot, so requests may write meanwhile, and
 * what is found is true at that moment.
 */

/** An entry that is missing from its index, or that no record has. */
export interface IndexDamage {
  readonly kind: 'missing' | 'stray'
  readonly index: string
  readonly entry: string
  /** the records that can have it, with their revisions; null without one */
  readonly owners: readonly (readonly [key: string, revision: string | null])[]
}

/** Index entries per snapshot: Redis looks up 200 in about a millisecond. */
const ENTRIES = 200
/** Records per snapshot: they may be large. */
const RECORDS = 40
/** Changes per commit. */
const CHANGES = 100
/** How often a rebuilding begins again, because requests have changed what it was about to change. */
const MAX_ROUNDS = 10

const EXPECT_NOTHING: Expectation = { records: new Map(), indexes: new Map(), capacity: new Map() }

/** Whether a record is valid. Nothing is known about the index entries of one that is not. */
export type IsValid = (key: string, value: Value) => boolean
const always: IsValid = () => true

/** Finds the damage of all indexes of a partition, in batches. @throws {StorageUnavailable} */
export async function* checkIndexes(store: Store, partition: string, isValid = always): AsyncGenerator<IndexDamage[]> {
  for await (const batch of store.scan(partition)) {
    const records = batch.flatMap(([key, stored]) => (stored === null ? [] : [{ key, stored }]))
    for (const part of partsOf(records, isValid)) {
      const found = await missingEntries(store, partition, part, isValid)
      if (found.length > 0) yield found
      await nextTurn()
    }
  }
  for await (const names of store.indexNames(partition)) for (const name of names) yield* strayEntries(store, partition, name, isValid)
}

/**
 * Adds the entries that are missing from the indexes of a partition, and removes those that no record has.
 * @param repaired called after each commit, with what it has repaired
 * @throws {StorageUnavailable}
 */
export async function rebuildIndexes(
  store: Store,
  partition: string,
  random: RandomSource,
  isValid = always,
  repaired: (found: readonly IndexDamage[]) => Promise<void> = async () => undefined,
): Promise<void> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    let conflicts = 0
    for await (const found of checkIndexes(store, partition, isValid)) {
      for (let start = 0; start < found.length; start += CHANGES) {
        const part = found.slice(start, start + CHANGES)
        if ((await store.commit(partition, repairOf(part, random))) === 'done') await repaired(part)
        else conflicts++
      }
    }
    if (conflicts === 0) return
  }
}

/** The change that repairs damage. It requires that the records of the entries have not changed. */
function repairOf(found: readonly IndexDamage[], random: RandomSource): Change {
  const indexes = new Map<string, { add: string[]; remove: string[] }>()
  const records = new Map<string, string | null>()
  for (const { kind, index, entry, owners } of found) {
    const change = indexes.get(index) ?? { add: [], remove: [] }
    indexes.set(index, change)
    change[kind === 'missing' ? 'add' : 'remove'].push(entry)
    for (const [key, revision] of owners) records.set(key, revision)
  }
  return { revision: randomText(random, 20), expect: { ...EXPECT_NOTHING, records }, put: new Map(), remove: new Set(), indexes }
}

interface ScannedRecord {
  readonly key: string
  readonly stored: Stored
}

/** Splits records so that each part has few records and few index entries. */
function* partsOf(records: readonly ScannedRecord[], isValid: IsValid): Generator<ScannedRecord[]> {
  let part: ScannedRecord[] = []
  let entries = 0
  for (const record of records) {
    const count = entriesIfValid(record.key, record.stored.value, isValid)?.length ?? 0
    if (count === 0) continue
    if (part.length === RECORDS || entries + count > ENTRIES) {
      yield part
      part = []
      entries = 0
    }
    part.push(record)
    entries += count
  }
  if (part.length > 0) yield part
}

/** The entries that records have and indexes do not. Records that have changed since they were scanned are read again. */
async function missingEntries(
  store: Store,
  partition: string,
  scanned: readonly ScannedRecord[],
  isValid: IsValid,
): Promise<IndexDamage[]> {
  const expected = scanned.flatMap(({ key, stored }) => (entriesIfValid(key, stored.value, isValid) ?? []).map((entry) => ({ key, entry })))
  const keys = scanned.map(({ key }) => key)
  const only = expected.map(({ entry: [index, entry] }): IndexRange => ({ index, before: `${entry}\0`, reverse: true, limit: 1 }))
  const { records, ranges } = await readParts(store, partition, keys, only)
  const revisions = new Map(records.map(({ key, stored }) => [key!, stored?.revision ?? null]))
  const found: IndexDamage[] = []
  for (const [
    i,
    {
      key,
      entry: [index, entry],
    },
  ] of expected.entries()) {
    const revision = revisions.get(key)!
    const isUnchanged = revision === scanned.find((record) => record.key === key)!.stored.revision
    if (isUnchanged && ranges[i]!.entries[0] !== entry) found.push({ kind: 'missing', index, entry, owners: [[key, revision]] })
  }
  const changed = records.flatMap(({ key, stored }, i) =>
    stored === null || stored.revision === scanned[i]!.stored.revision ? [] : [{ key: key!, stored }],
  )
  for (const record of changed) found.push(...(await missingEntries(store, partition, [record], isValid)))
  return found
}

/** The entries of an index that no record has. */
async function* strayEntries(store: Store, partition: string, index: string, isValid: IsValid): AsyncGenerator<IndexDamage[]> {
  for (let after: string | undefined; ;) {
    const range = { index, after, limit: RECORDS }
    const { entries } = (await readParts(store, partition, [], [range])).ranges[0]!
    if (entries.length === 0) return
    const owners = entries.map((entry) => ownersOf(index, entry) ?? [])
    const found = (await readParts(store, partition, owners.flat(), [range]))!
    const stored = new Map(found.records.map((record) => [record.key!, record.stored]))
    const present = new Set(found.ranges[0]!.entries)
    const stray = entries.flatMap((entry, i): IndexDamage[] => {
      const isOwned = owners[i]!.some((key) => hasEntry(key, stored.get(key)?.value, [index, entry], isValid))
      if (isOwned || !present.has(entry)) return []
      return [{ kind: 'stray', index, entry, owners: owners[i]!.map((key) => [key, stored.get(key)?.revision ?? null]) }]
    })
    if (stray.length > 0) yield stray
    if (entries.length < RECORDS) return
    after = entries.at(-1)
    await nextTurn()
  }
}

async function readParts(store: Store, partition: string, records: readonly string[], ranges: readonly IndexRange[]): Promise<Snapshot> {
  return (await store.read(partition, { records, ranges, counts: [], expect: EXPECT_NOTHING }))!
}

function hasEntry(key: string, value: Value | undefined, [index, entry]: IndexEntry, isValid: IsValid): boolean {
  if (value === undefined) return false
  const entries = entriesIfValid(key, value, isValid)
  return entries === undefined || entries.some(([name, text]) => name === index && text === entry)
}

/** @returns undefined if the record is not valid */
function entriesIfValid(key: string, value: Value, isValid: IsValid): readonly IndexEntry[] | undefined {
  try {
    return isValid(key, value) ? entriesOf(key, value) : undefined
  } catch {
    return undefined
  }
}
