import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RandomSource } from '../model/ids.ts'
import { ownersOf } from './indexes.ts'
import { entriesOf, type IndexEntry } from './indexing.ts'
import { NO_EXPECTATION, type Change, type IndexRange, type Snapshot, type Store, type Stored, type Value } from './port.ts'
import { newRevision } from './transaction.ts'

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

/** Index entries per snapshot: Redis looks up 500 in a few milliseconds. */
const ENTRIES = 500
/** Records per snapshot: they may be large. */
const RECORDS = 100
/** Indexes whose first entries are read at once, and how many of each. */
const [INDEXES, PAGE] = [50, 40]
/** Changes per commit. */
const CHANGES = 100
/** How often a rebuilding begins again, because requests have changed what it was about to change. */
const MAX_ROUNDS = 10

/** Whether a record is valid. Nothing is known about the index entries of one that is not. */
export type IsValid = (key: string, value: Value) => boolean
const always: IsValid = () => true

/**
 * Finds the damage of all indexes of a partition, in batches.
 * @throws {StorageUnavailable}
 */
export async function* checkIndexes(store: Store, partition: string, isValid = always): AsyncGenerator<IndexDamage[]> {
  for await (const batch of store.scan(partition)) {
    const records = batch.flatMap(([key, stored]) => (stored === null ? [] : [{ key, stored }]))
    for (const part of partsOf(records)) {
      const found = await missingEntries(store, partition, part, isValid)
      if (found.length > 0) yield found
      await nextTurn()
    }
  }
  let batch: IndexEntry[] = []
  for await (const entry of allEntries(store, partition)) {
    batch.push(entry)
    if (batch.length < RECORDS) continue
    yield await strayEntries(store, partition, batch, isValid)
    batch = []
    await nextTurn()
  }
  if (batch.length > 0) yield await strayEntries(store, partition, batch, isValid)
}

/**
 * Adds the entries that are missing from the indexes of a partition, and removes those that no record has.
 * @param repaired called after each commit with its repairs
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
  return { revision: newRevision(random), expect: { ...NO_EXPECTATION, records }, put: new Map(), remove: new Set(), indexes }
}

interface ScannedRecord {
  readonly key: string
  readonly stored: Stored
}

/** Splits records so that each part has few records and few index entries. */
function* partsOf(records: readonly ScannedRecord[]): Generator<ScannedRecord[]> {
  let part: ScannedRecord[] = []
  let entries = 0
  for (const record of records) {
    const count = entriesOfAny(record.key, record.stored.value)?.length ?? 0
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
  const expected = scanned.flatMap(({ key, stored }) =>
    (entriesOfAny(key, stored.value) ?? [])
      .filter(([, , hides]) => hides === undefined)
      .map(([index, entry]) => ({ key, stored, index, entry, owners: ownersOf(index, entry) ?? [key] })),
  )
  const keys = [...new Set([...scanned.map(({ key }) => key), ...expected.flatMap(({ owners }) => owners)])]
  const only = expected.map(({ index, entry }) => rangeOf([index, entry]))
  const { records, ranges } = await readParts(store, partition, keys, only)
  const present = new Map(records.map((record) => [record.key!, record.stored]))
  const found = expected.flatMap(({ key, stored, index, entry, owners }, i): IndexDamage[] => {
    const { revision, value } = stored
    if (ranges[i]!.entries[0] === entry || present.get(key)?.revision !== revision || !isValid(key, value)) return []
    if (owners.some((owner) => hides(owner, present.get(owner)?.value, [index, entry]))) return []
    return [{ kind: 'missing', index, entry, owners: owners.map((owner) => [owner, present.get(owner)?.revision ?? null]) }]
  })
  const changed = records
    .slice(0, scanned.length)
    .flatMap(({ key, stored }, i) => (stored === null || stored.revision === scanned[i]!.stored.revision ? [] : [{ key: key!, stored }]))
  for (const record of changed) found.push(...(await missingEntries(store, partition, [record], isValid)))
  return found
}

/** The range of one entry. */
function rangeOf([index, entry]: IndexEntry): IndexRange {
  return { index, before: `${entry}\0`, reverse: true, limit: 1 }
}

/** The entries of all indexes of a partition. */
async function* allEntries(store: Store, partition: string): AsyncGenerator<IndexEntry> {
  const pagesOf = async (ranges: readonly IndexRange[]) =>
    (await readParts(store, partition, [], ranges)).ranges.map(({ entries }) => entries)
  for await (const names of store.indexNames(partition)) {
    for (let start = 0; start < names.length; start += INDEXES) {
      const indexes = names.slice(start, start + INDEXES)
      const first = await pagesOf(indexes.map((index) => ({ index, limit: PAGE })))
      for (const [i, index] of indexes.entries()) {
        for (let page = first[i]!; ; page = (await pagesOf([{ index, after: page.at(-1), limit: PAGE }]))[0]!) {
          for (const entry of page) yield [index, entry]
          if (page.length < PAGE) break
        }
      }
      await nextTurn()
    }
  }
}

/** The ones among some index entries that no record has. */
async function strayEntries(store: Store, partition: string, entries: readonly IndexEntry[], isValid: IsValid): Promise<IndexDamage[]> {
  const owners = entries.map(([index, entry]) => ownersOf(index, entry) ?? [])
  const { records, ranges } = await readParts(store, partition, [...new Set(owners.flat())], entries.map(rangeOf))
  const stored = new Map(records.map((record) => [record.key!, record.stored]))
  return entries.flatMap(([index, entry], i): IndexDamage[] => {
    const isPresent = ranges[i]!.entries[0] === entry
    const isHidden = owners[i]!.some((key) => hides(key, stored.get(key)?.value, [index, entry]))
    if (!isPresent || (!isHidden && owners[i]!.some((key) => hasEntry(key, stored.get(key)?.value, [index, entry], isValid)))) return []
    return [{ kind: 'stray', index, entry, owners: owners[i]!.map((key) => [key, stored.get(key)?.revision ?? null]) }]
  })
}

async function readParts(store: Store, partition: string, records: readonly string[], ranges: readonly IndexRange[]): Promise<Snapshot> {
  return (await store.read(partition, { records, ranges, counts: [], expect: NO_EXPECTATION }))!
}

function hasEntry(key: string, value: Value | undefined, [index, entry]: IndexEntry, isValid: IsValid): boolean {
  if (value === undefined) return false
  const entries = entriesOfAny(key, value)
  return (
    entries === undefined ||
    entries.some(([name, text, hidden]) => hidden === undefined && name === index && text === entry) ||
    !isValid(key, value)
  )
}

/** Whether a record keeps an entry of another one out of the index. */
function hides(key: string, value: Value | undefined, [index, entry]: IndexEntry): boolean {
  const entries = value === undefined ? [] : (entriesOfAny(key, value) ?? [])
  return entries.some(([name, text, hidden]) => hidden !== undefined && name === index && text === entry)
}

/**
 * The index entries of a record.
 * @returns undefined if it is so invalid that they cannot be computed
 */
function entriesOfAny(key: string, value: Value): readonly IndexEntry[] | undefined {
  try {
    return entriesOf(key, value)
  } catch {
    return undefined
  }
}
