import { getHeapStatistics } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { lastWord } from '../indexes.ts'
import { freeze, isAsExpected } from '../partition.ts'
import type { IndexRange, ReadRequest, Snapshot, Stored, Template } from '../port.ts'
import { resolveTemplates } from '../templates.ts'
import { decodeStored, hasRevision } from './codec.ts'

/** The memory that a record takes, as a multiple of its JSON, and in addition, with its name, in bytes. */
const [MEMORY_FACTOR, RECORD_BYTES] = [2, 400]
/** The memory that an entry of a page takes, in bytes, and that an index takes. */
const [ENTRY_BYTES, INDEX_BYTES] = [250, 300]
/** The least size, in bytes: what one request reads has a place in it. */
const LEAST_BYTES = 1024 * 1024
/** The part of the memory that is for pages, and for indexes. The rest is for records. */
const [PAGES, INDEXES] = [0.15, 0.05]
/** Partitions whose last revision is kept. */
const PARTITIONS = 10_000
/** The length of a record that is not known, in characters, until it is read. */
const UNKNOWN_LENGTH = 8192

/** The memory that a cache may take by default, in bytes: an eighth of what the process may use for objects. */
function defaultCacheBytes(): number {
  return getHeapStatistics().heap_size_limit / 8
}

/** A record, as it was when the partition had the revision `at`; null: it was absent. */
interface KnownRecord {
  readonly stored: Stored | null
  /** of its text in Redis */
  readonly length: number
  at: string
}

/** An index, as it was when the partition had the revision `at`. */
interface KnownIndex {
  /** null: it was empty */
  readonly revision: string | null
  /** undefined: the partition may have had any revision */
  at: string | undefined
}

/** What a range of an index had while the index had a revision, or when the partition had the revision `at`. */
interface KnownPage {
  /** null: the index was empty. It may be that again and again, so it says nothing about another moment. */
  readonly revision: string | null
  readonly at: string
  readonly entries: readonly string[]
  /** the names of their records in Redis */
  readonly names: readonly string[]
}

/** What has to be asked to answer a read. */
export interface Question {
  /** the names of records in Redis, also of the records of known pages */
  readonly names: readonly string[]
  /** index → the revision that is known; undefined: none */
  readonly indexes: ReadonlyMap<string, string | null | undefined>
  /** ranges whose entries are not known, or have changed */
  readonly ranges: readonly IndexRange[]
  /** how long the records of its ranges and of its expectation are, in characters */
  readonly length: number
}

/** The answers to a question, in the order in which they were read. */
export interface Answers {
  /** the revision of the partition, at the moment when the records were read */
  readonly at: string
  readonly records: readonly (string | null)[]
  readonly pages: readonly (readonly string[])[]
  /** of the indexes */
  readonly revisions: readonly (string | null)[]
  /** whether the partition had the same revision after all of this */
  readonly isOneMoment: boolean
}

/** In place of a record that is not known. */
const UNKNOWN: Stored = { revision: '', value: {} }

/**
 * What a process has read from Redis, so that it neither fetches nor parses again what has not changed. It answers nothing by itself. An
 * answer is made of what was true at one revision of the partition, and the caller has read in this very read that the partition has this
 * revision. Each commit gives its partition, and all that it writes, a revision that is never used again. So equal revisions mean equal
 * contents, whoever wrote them.
 */
export class ReadCache {
  readonly #records: LRUCache<string, KnownRecord>
  readonly #pages: LRUCache<string, KnownPage>
  readonly #indexes: LRUCache<string, KnownIndex>
  readonly #current = new LRUCache<string, string>({ max: PARTITIONS })

  /** @param bytes the memory that it may take, roughly; a mebibyte at least */
  constructor(bytes = defaultCacheBytes()) {
    const part = (share: number) => Math.ceil(Math.max(bytes, LEAST_BYTES) * share)
    this.#records = new LRUCache({
      maxSize: part(1 - PAGES - INDEXES),
      sizeCalculation: ({ length }) => MEMORY_FACTOR * length + RECORD_BYTES,
    })
    this.#pages = new LRUCache({ maxSize: part(PAGES), sizeCalculation: ({ entries }) => ENTRY_BYTES * entries.length + INDEX_BYTES })
    this.#indexes = new LRUCache({ maxSize: part(INDEXES), sizeCalculation: () => INDEX_BYTES })
  }

  /** The memory that it takes, roughly. */
  get bytes(): number {
    return this.#records.calculatedSize + this.#pages.calculatedSize + this.#indexes.calculatedSize
  }

  /** The revision that a partition had when something was last read from it or written to it; undefined: not known, or it had none. */
  currentOf(base: string): string | undefined {
    return this.#current.get(base) || undefined
  }

  /**
   * Remembers the revision of a partition.
   * @param revision null: nothing was ever written to it
   * @returns the same text as the last time if it has not changed; "" for null
   */
  noteCurrent(base: string, revision: string | null): string {
    const known = this.#current.get(base)
    if (known === revision) return known
    this.#current.set(base, revision ?? '')
    return revision ?? ''
  }

  /**
   * Remembers a record.
   * @param at the revision of the partition at that moment
   * @returns the same object as before if it has not changed
   */
  noteRecord(name: string, text: string | null, at: string): Stored | null {
    const known = this.#records.get(name)
    if (known !== undefined && hasRevision(text, known.stored?.revision)) {
      known.at = at
      return known.stored
    }
    const stored = decodeStored(text)
    if (stored !== null) freeze(stored.value)
    this.#records.set(name, { stored, length: text?.length ?? 0, at })
    return stored
  }

  /** Remembers an index. @param at the revision of the partition at that moment; undefined: it may have had another one */
  noteIndex(base: string, index: string, revision: string | null, at: string | undefined): void {
    const name = `${base}:i:${index}`
    const known = this.#indexes.get(name)
    if (known === undefined || known.revision !== revision) this.#indexes.set(name, { revision, at })
    else known.at = at ?? known.at
  }

  /** Remembers the entries of a range. @param at the revision of the partition at that moment */
  notePage(base: string, range: IndexRange, revision: string | null, entries: readonly string[], at: string): void {
    const { fetch } = range
    const names = fetch === undefined ? [] : entries.map((entry) => `${base}:r:${fetch}${lastWord(entry)}`)
    this.#pages.set(nameOf(base, range), { revision, at, entries, names })
  }

  /**
   * What has to be asked to answer a read.
   * @returns undefined if the keys of all its records cannot be guessed
   */
  questionFor(base: string, { records, ranges, counts, expect }: ReadRequest): Question | undefined {
    const keys = this.#guessKeys(base, records)
    if (keys === undefined) return undefined
    const names = keys.flatMap((key) => (key === null ? [] : `${base}:r:${key}`))
    let length = 0
    const add = (name: string): void => {
      names.push(name)
      length += this.#records.peek(name)?.length ?? UNKNOWN_LENGTH
    }
    for (const key of expect.records.keys()) add(`${base}:r:${key}`)
    const indexes = new Map<string, string | null | undefined>()
    const addIndex = (index: string): string | null | undefined => {
      const revision = this.#indexes.get(`${base}:i:${index}`)?.revision
      indexes.set(index, revision)
      return revision
    }
    for (const index of expect.indexes.keys()) addIndex(index)
    for (const index of counts) addIndex(index)
    const unknown: IndexRange[] = []
    for (const range of ranges) {
      const page = this.#pages.get(nameOf(base, range))
      const revision = addIndex(range.index)
      if (page !== undefined && page.revision !== null && page.revision === revision) for (const name of page.names) add(name)
      // A script reads entries and records at once.
      else if (page === undefined && range.fetch !== undefined && revision !== null) return undefined
      else unknown.push(range)
    }
    return { names, indexes, ranges: unknown, length }
  }

  /** @returns null in place of a key that a template does not have; undefined: a record that a template refers to is not known */
  #guessKeys(base: string, templates: readonly Template[]): (string | null)[] | undefined {
    let isKnown = true
    const guessed = resolveTemplates(templates, (key) => {
      const known = this.#records.get(`${base}:r:${key}`)
      return known === undefined ? UNKNOWN : known.stored
    })
    for (const template of templates)
      if (typeof template !== 'string')
        for (const part of template) if (typeof part !== 'string') isKnown &&= guessed[part.index]!.stored !== UNKNOWN
    return isKnown ? guessed.map(({ key }) => key) : undefined
  }

  /**
   * Remembers the answers to a question. The revisions of the indexes were read after the records: an index that then has the revision that
   * was known before the question had it when the records were read, too, whatever else has changed.
   */
  noteAnswers(base: string, question: Question, { at, records, pages, revisions, isOneMoment }: Answers): void {
    for (const [i, name] of question.names.entries()) this.noteRecord(name, records[i]!, at)
    for (const [i, [index, before]] of [...question.indexes].entries()) {
      const revision = revisions[i]!
      const isSame = revision !== null && before === revision
      this.noteIndex(base, index, revision, isOneMoment || isSame ? at : undefined)
    }
    if (!isOneMoment) return
    const names = [...question.indexes.keys()]
    for (const [i, range] of question.ranges.entries()) this.notePage(base, range, revisions[names.indexOf(range.index)]!, pages[i]!, at)
  }

  /**
   * Answers a read with what was true when the partition had a revision. The answer has no counts.
   * @returns null when the expectation was not met; undefined: not everything is known
   */
  answer(base: string, { records, ranges, expect }: ReadRequest, at: string): Snapshot | null | undefined {
    const recordAt = (name: string): Stored | null | undefined => {
      const known = this.#records.get(name)
      return known?.at === at ? known.stored : undefined
    }
    const indexAt = (index: string): KnownIndex | undefined => {
      const known = this.#indexes.get(`${base}:i:${index}`)
      return known?.at === at ? known : undefined
    }
    for (const [key, expected] of expect.records) {
      const stored = recordAt(`${base}:r:${key}`)
      if (stored === undefined) return undefined
      if (!isAsExpected(stored ?? undefined, expected)) return null
    }
    for (const [index, revision] of expect.indexes) {
      const known = indexAt(index)
      if (known === undefined) return undefined
      if (known.revision !== revision) return null
    }
    let isKnown = true
    const found = resolveTemplates(records, (key) => {
      const stored = recordAt(`${base}:r:${key}`)
      isKnown &&= stored !== undefined
      return stored ?? null
    })
    if (!isKnown) return undefined
    const pages: Snapshot['ranges'][number][] = []
    for (const range of ranges) {
      const known = indexAt(range.index)
      if (known === undefined) return undefined
      const page = this.#pages.get(nameOf(base, range))
      if (page === undefined || page.revision !== known.revision || (page.revision === null && page.at !== at)) return undefined
      const fetched: (Stored | null)[] = []
      for (const name of page.names) {
        const stored = recordAt(name)
        if (stored === undefined) return undefined
        fetched.push(stored)
      }
      pages.push({ revision: known.revision, entries: page.entries, records: fetched })
    }
    return { records: found, ranges: pages, counts: [] }
  }
}

/** The name of a range: the same for all that have the same entries and records. */
function nameOf(base: string, { index, after, before, reverse = false, limit, fetch = '' }: IndexRange): string {
  const bound = (entry: string | undefined) => (entry === undefined ? '' : `|${entry}`)
  return `${base}:i:${index}\n${bound(after)}\n${bound(before)}\n${reverse} ${limit} ${fetch}`
}
