import { setImmediate as nextTurn } from 'node:timers/promises'
import { appendedEntries } from './change-log.ts'
import type { Appended, Change, Expectation, ExpectedRecord, IndexRange, ReadRequest, Snapshot, Stored, Value } from './port.ts'
import { resolveReferences } from './references.ts'
import { SortedIndex, partitionPoint } from './sorted-index.ts'

/** Records per batch. */
const BATCH = 500
/** How many keys are processed before other work runs. */
const STEP = 5000

/** Records by key. */
export interface ReadableRecords {
  get(key: string): Stored | undefined
  keys(): Iterable<string>
}

/**
 * Reads the records of a partition in memory as they were when it began, ordered by key. Other work runs between its steps,
 * and may change the records. Of a record that is changed before it was read, the previous value is kept until then. Besides
 * these values, the memory that it needs is a list of the keys.
 */
class Dump {
  readonly #records: ReadableRecords
  /** the values of records that were changed since, and that are still to be read */
  readonly #previous = new Map<string, Value>()
  /** all keys in order; undefined until they are sorted */
  #keys: readonly string[] | undefined
  /** the index of the next key to read */
  #next = 0

  constructor(records: ReadableRecords) {
    this.#records = records
  }

  /**
   * Must be called before a record is changed or removed.
   * @param stored the record before the change
   */
  preserve(key: string, stored: Stored | undefined): void {
    if (stored === undefined || this.#previous.has(key)) return
    if (this.#keys === undefined || isFrom(this.#keys, this.#next, key)) this.#previous.set(key, stored.value)
  }

  /** The records in batches. The first request of a batch is the moment whose state is read. */
  async *batches(): AsyncGenerator<(readonly [key: string, value: Value])[]> {
    const keys = await sortInSteps([...this.#records.keys()])
    this.#keys = keys
    while (this.#next < keys.length) {
      const batch = keys.slice(this.#next, this.#next + BATCH).map((key) => [key, this.#take(key)] as const)
      this.#next += batch.length
      yield batch
      if (this.#next % STEP === 0) await nextTurn()
    }
  }

  #take(key: string): Value {
    const value = this.#previous.get(key)
    this.#previous.delete(key)
    return value ?? this.#records.get(key)!.value
  }
}

/** Whether a sorted list has a text at an index or after it. */
function isFrom(sorted: readonly string[], index: number, text: string): boolean {
  return sorted[partitionPoint(sorted, (other) => other < text, index)] === text
}

/** Sorts texts, and lets other work run after each step. */
async function sortInSteps(texts: readonly string[]): Promise<readonly string[]> {
  let runs: (readonly string[])[] = []
  for (let start = 0; start < texts.length; start += STEP) {
    if (start > 0) await nextTurn()
    runs.push(texts.slice(start, start + STEP).toSorted())
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = []
    for (let i = 0; i < runs.length; i += 2) merged.push(await mergeInSteps(runs[i]!, runs[i + 1] ?? []))
    runs = merged
  }
  return runs[0] ?? []
}

async function mergeInSteps(left: readonly string[], right: readonly string[]): Promise<readonly string[]> {
  const merged: string[] = []
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    const takesLeft = j === right.length || (i < left.length && left[i]! < right[j]!)
    merged.push(takesLeft ? left[i++]! : right[j++]!)
    if (merged.length % STEP === 0) await nextTurn()
  }
  return merged
}

/** Names per batch of a scan. */
const SCAN_BATCH = 500

/** The records of a partition: a Map, or an object with the same methods. */
export interface Records extends ReadableRecords {
  set(key: string, stored: Stored): unknown
  delete(key: string): unknown
}

/** The effects of accepted commits that are not applied yet. Later commits are checked against them; reads do not see them. */
export interface Pending {
  /** the pending state of a record: null when it will be removed, undefined when nothing is pending */
  record(key: string): Stored | null | undefined
  /** the pending revision of an index */
  index(name: string): string | undefined
  /** how many entries an index may gain */
  gain(name: string): number
}

/** One partition in memory: its records and indexes. Every method except {@link Partition.dump} is one synchronous step. */
export class Partition {
  readonly records: Records
  readonly indexes = new Map<string, SortedIndex>()
  /** the dumps in progress */
  readonly #dumps = new Set<Dump>()

  constructor(records: Records) {
    this.records = records
  }

  /** Whether the whole expectation is met, given the pending commits. */
  meets({ records, indexes, capacity }: Expectation, pending?: Pending): boolean {
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
      records: resolveReferences(records, (key) => this.records.get(key) ?? null),
      ranges: ranges.map((range) => this.#range(range)),
      counts: counts.map((name) => this.indexes.get(name)?.size ?? 0),
    }
  }

  /** Applies a change. The caller has checked its expectation. */
  apply({ revision, put, remove, indexes, append }: Pick<Change, 'revision' | 'put' | 'remove' | 'indexes' | 'append'>): void {
    for (const dump of this.#dumps) for (const key of [...put.keys(), ...remove]) dump.preserve(key, this.records.get(key))
    for (const [key, value] of put) this.records.set(key, { value: freeze(value), revision })
    for (const key of remove) this.records.delete(key)
    for (const [name, entries] of indexes) {
      const index = this.#index(name)
      index.change(entries.add, entries.remove, revision)
      // An empty index equals an absent one. Otherwise the indexes of deleted parents would never be released.
      if (index.size === 0) this.indexes.delete(name)
    }
    if (append !== undefined) for (const [name, appended] of append) this.#append(name, appended, revision)
  }

  #append(name: string, { fetch, values }: Appended, revision: string): void {
    const index = this.#index(name)
    const entries = appendedEntries(index.last, values.length)
    for (const [i, entry] of entries.entries()) this.records.set(fetch + entry, { value: freeze(values[i]!), revision })
    index.change(entries, [], revision)
  }

  #index(name: string): SortedIndex {
    return this.indexes.get(name) ?? this.indexes.set(name, new SortedIndex()).get(name)!
  }

  /**
   * All records as they are when the first batch is requested, in batches ordered by key. Later changes have no effect on it.
   * Other work runs between its steps.
   */
  async *dump(): AsyncGenerator<(readonly [key: string, value: Value])[]> {
    const dump = new Dump(this.records)
    this.#dumps.add(dump)
    try {
      yield* dump.batches()
    } finally {
      this.#dumps.delete(dump)
    }
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

  #stored(key: string, pending: Pending | undefined): Stored | undefined {
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

function isAsExpected(stored: Stored | undefined, expected: ExpectedRecord): boolean {
  if (expected === null || stored === undefined) return expected === null && stored === undefined
  if (typeof expected === 'string') return stored.revision === expected
  if (stored.revision === expected.revision) return true
  return Object.entries(expected.members).every(([name, text]) => stored.value[name] === text)
}

/** Freezes a value and its arrays. Readers share the stored object, so they must not be able to change it. */
export function freeze(value: Value): Value {
  for (const member of Object.values(value)) if (Array.isArray(member)) Object.freeze(member)
  return Object.freeze(value)
}

/** Splits names into batches. Their list is copied, because other work may change it between two batches. */
function* inBatches(names: Iterable<string>): Generator<string[]> {
  const all = [...names]
  for (let start = 0; start < all.length; start += SCAN_BATCH) yield all.slice(start, start + SCAN_BATCH)
}
