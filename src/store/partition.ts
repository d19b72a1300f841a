import { resolveReferences } from './resolve-references.ts'
import { lastWord } from './indexes.ts'
import type { Change, Expectation, IndexRange, ReadRequest, Snapshot, Stored, Value } from './port.ts'
import { SortedIndex } from './sorted-index.ts'

const DUMP_PIECE = 500

/** Where the records of a partition are: a Map, or something like one. */
export interface Records {
  get(key: string): Stored | undefined
  keys(): Iterable<string>
  set(key: string, stored: Stored): unknown
  delete(key: string): unknown
}

/** What was promised to commits that are not done yet: later ones are held against it, reads do not see it. */
export interface Pending {
  /** key → its revision to be, null where it is to be removed; undefined where nothing is promised */
  record(key: string): string | null | undefined
  /** index → its revision to be */
  index(name: string): string | undefined
  /** how many entries an index may gain */
  gain(name: string): number
}

/** One partition in memory: its records and indexes. Every method is one synchronous step. */
export class Partition {
  readonly records: Records
  readonly indexes = new Map<string, SortedIndex>()

  constructor(records: Records) {
    this.records = records
  }

  /** Whether all that is expected is so. */
  holds({ records, indexes, capacity }: Expectation, pending?: Pending): boolean {
    for (const [key, revision] of records) if ((pending?.record(key) ?? this.#revision(key, pending)) !== revision) return false
    for (const [name, revision] of indexes)
      if ((pending?.index(name) ?? this.indexes.get(name)?.revision ?? null) !== revision) return false
    for (const [name, most] of capacity) if ((this.indexes.get(name)?.size ?? 0) + (pending?.gain(name) ?? 0) > most) return false
    return true
  }

  /** @returns null where something expected is not so */
  read({ records, ranges, counts, expect }: ReadRequest): Snapshot | null {
    if (!this.holds(expect)) return null
    return {
      records: resolveReferences(records, (key) => this.records.get(key) ?? null),
      ranges: ranges.map((range) => this.#range(range)),
      counts: counts.map((name) => this.indexes.get(name)?.size ?? 0),
    }
  }

  /** All records as they are now, in pieces. Later changes do not show in it: records are replaced, never changed. */
  *dump(): Generator<(readonly [key: string, value: Value])[]> {
    const all = [...this.records.keys()].toSorted().map((key) => [key, this.records.get(key)!.value] as const)
    for (let from = 0; from < all.length; from += DUMP_PIECE) yield all.slice(from, from + DUMP_PIECE)
  }

  /** Does a change. Whether it may be done was asked before. */
  apply({ revision, put, remove, indexes }: Pick<Change, 'revision' | 'put' | 'remove' | 'indexes'>): void {
    for (const [key, value] of put) this.records.set(key, { value: freeze(value), revision })
    for (const key of remove) this.records.delete(key)
    for (const [name, { add, remove: gone }] of indexes) {
      const index = this.indexes.get(name) ?? this.indexes.set(name, new SortedIndex()).get(name)!
      index.change(add, gone, revision)
      // What is empty is as what never was: else every list of every deleted thing would stay for good.
      if (index.size === 0) this.indexes.delete(name)
    }
  }

  #revision(key: string, pending: Pending | undefined): string | null {
    return pending?.record(key) === null ? null : (this.records.get(key)?.revision ?? null)
  }

  #range(range: IndexRange): Snapshot['ranges'][number] {
    const index = this.indexes.get(range.index)
    const entries = index?.range(range) ?? []
    const { fetch } = range
    return {
      entries,
      revision: index?.revision ?? null,
      records: fetch === undefined ? [] : entries.map((entry) => this.records.get(fetch + lastWord(entry)) ?? null),
    }
  }
}

/** Readers get the very record, so it must not be theirs to change. */
export function freeze(value: Value): Value {
  for (const member of Object.values(value)) if (Array.isArray(member)) Object.freeze(member)
  return Object.freeze(value)
}
