import { setImmediate as nextTurn } from 'node:timers/promises'
import { appendedEntries } from './appended.ts'
import type { Change, Expectation, ExpectedRecord, IndexRange, ReadRequest, Snapshot, Stored, Value } from './port.ts'
import type { PendingChanges } from './pending-changes.ts'
import { resolveTemplates } from './templates.ts'
import { SortedIndex } from './sorted-index.ts'

/** Records or names per batch. */
const BATCH = 500
/** How many records are sorted before other work runs. */
const STEP = 5000

type DumpedRecord = readonly [key: string, value: Value]

/** Sorts records by key, and lets other work run after each step. Only their lists are made at once, which is fast. */
async function sortInSteps(keys: readonly string[], records: readonly Stored[]): Promise<readonly DumpedRecord[]> {
  let runs: (readonly DumpedRecord[])[] = []
  for (let start = 0; start < keys.length; start += STEP) {
    if (start > 0) await nextTurn()
    const run = keys.slice(start, start + STEP).map((key, i) => [key, records[start + i]!.value] as const)
    // Stryker disable next-line EqualityOperator: no two keys are equal
    runs.push(run.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }
  while (runs.length > 1) {
    const merged: (readonly DumpedRecord[])[] = []
    for (let i = 0; i < runs.length; i += 2) merged.push(await mergeInSteps(runs[i]!, runs[i + 1] ?? []))
    runs = merged
  }
  return runs[0] ?? []
}

async function mergeInSteps(left: readonly DumpedRecord[], right: readonly DumpedRecord[]): Promise<readonly DumpedRecord[]> {
  const merged: DumpedRecord[] = []
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    // Stryker disable next-line EqualityOperator: no two keys are equal
    const takesLeft = j === right.length || (i < left.length && left[i]![0] < right[j]![0])
    merged.push(takesLeft ? left[i++]! : right[j++]!)
    if (merged.length % STEP === 0) await nextTurn()
  }
  return merged
}

/** The records of a partition: a Map, or an object with the same methods. */
export interface Records {
  get(key: string): Stored | undefined
  keys(): Iterable<string>
  /** in the order of the keys */
  values(): Iterable<Stored>
  set(key: string, stored: Stored): unknown
  delete(key: string): unknown
}

type Applied = Pick<Change, 'revision' | 'put' | 'remove' | 'indexes' | 'append'>

const NOTHING: NonNullable<Change['append']> = new Map()
const NO_ENTRIES: readonly string[] = []

/** One partition in memory: its records and indexes. Every method except {@link Partition.dump} is one synchronous step. */
export class Partition {
  readonly records: Records
  readonly indexes = new Map<string, SortedIndex>()

  constructor(records: Records) {
    this.records = records
  }

  /** Whether the whole expectation is met, given the pending commits. */
  meets({ records, indexes, capacity }: Expectation, pending?: PendingChanges): boolean {
    for (const [key, expected] of records) if (!isAsExpected(pending?.record(key) ?? this.#stored(key, pending), expected)) return false
    for (const [name, revision] of indexes)
      if ((pending?.index(name) ?? this.indexes.get(name)?.revision ?? null) !== revision) return false
    for (const [name, limit] of capacity) if ((this.indexes.get(name)?.size ?? 0) + (pending?.gain(name) ?? 0) > limit) return false
    return true
  }

  /** @returns null when the expectation is not met */
  read({ records, ranges, counts, expect }: ReadRequest): Snapshot | null {
    if (!this.meets(expect)) return null
    return {
      records: resolveTemplates(records, (key) => this.records.get(key) ?? null),
      ranges: ranges.map((range) => this.#range(range)),
      counts: counts.map((name) => this.indexes.get(name)?.size ?? 0),
    }
  }

  /** Applies a change. The caller has checked its expectation. */
  apply({ revision, put, remove, indexes, append = NOTHING }: Applied): void {
    for (const [key, value] of put) this.#put(key, value, revision)
    for (const key of remove) this.records.delete(key)
    for (const [name, entries] of indexes) this.#changeIndex(name, entries.add, entries.remove, revision)
    for (const [name, appended] of append) {
      const entries = appendedEntries(appended, this.indexes.get(name)?.last)
      for (let i = 0; i < entries.length; i++) this.#put(appended.fetch + entries[i]!, appended.values[i]!, revision)
      this.#changeIndex(name, entries, NO_ENTRIES, revision)
    }
  }

  #put(key: string, value: Value, revision: string): void {
    this.records.set(key, { value: freeze(value), revision })
  }

  #changeIndex(name: string, add: readonly string[], remove: readonly string[], revision: string): void {
    const index = this.indexes.get(name) ?? new SortedIndex()
    this.indexes.set(name, index)
    index.change(add, remove, revision)
    // An empty index equals an absent one. Otherwise the indexes of deleted parents would never be released.
    if (index.size === 0) this.indexes.delete(name)
  }

  /**
   * All records as they are when the first batch is requested, in batches ordered by key. Later changes have no effect on it: a changed
   * record is another object. Other work runs between its steps.
   */
  async *dump(): AsyncGenerator<DumpedRecord[]> {
    yield* inBatches(await sortInSteps([...this.records.keys()], [...this.records.values()]))
  }

  /** All records, in batches. Each is as it is when its batch is requested. */
  *scan(): Generator<(readonly [key: string, stored: Stored])[]> {
    for (const keys of inBatches(this.records.keys()))
      yield keys.flatMap((key): (readonly [string, Stored])[] => {
        const stored = this.records.get(key)
        return stored === undefined ? [] : [[key, stored]]
      })
  }

  /** The names of the indexes that are not empty, in batches. */
  *indexNames(): Generator<string[]> {
    yield* inBatches(this.indexes.keys())
  }

  #stored(key: string, pending: PendingChanges | undefined): Stored | undefined {
    return pending?.record(key) === null ? undefined : this.records.get(key)
  }

  #range(range: IndexRange): Snapshot['ranges'][number] {
    const index = this.indexes.get(range.index)
    const entries = index?.range(range) ?? []
    const { fetch } = range
    return {
      entries,
      revision: index?.revision ?? null,
      records: fetch === undefined || index === undefined ? [] : index.keysOf(range, fetch).map((key) => this.records.get(key) ?? null),
    }
  }
}

/** Whether a record meets an expectation. */
export function isAsExpected(stored: Stored | undefined, expected: ExpectedRecord): boolean {
  if (expected === null || stored === undefined) return expected === null && stored === undefined
  if (typeof expected === 'string') return stored.revision === expected
  if (stored.revision === expected.revision) return true
  return Object.entries(expected.members).every(([name, text]) => stored.value[name] === text)
}

/** All empty lists of records are the same one: most cards have three, which are a tenth of their memory. */
const NONE = Object.freeze([])

/** Freezes a value and its arrays. Readers share the stored object, so they must not be able to change it. */
export function freeze(value: Value): Value {
  if (Object.isFrozen(value)) return value
  for (const name in value) {
    const member = value[name]
    if (!Array.isArray(member)) continue
    if (member.length > 0) Object.freeze(member)
    else (value as Record<string, unknown>)[name] = NONE
  }
  return Object.freeze(value)
}

/** Splits a list into batches. It is copied, because other work may change it between two batches. */
function* inBatches<T>(items: Iterable<T>): Generator<T[]> {
  const all = [...items]
  for (let start = 0; start < all.length; start += BATCH) yield all.slice(start, start + BATCH)
}
