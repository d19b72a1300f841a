import { getHeapStatistics } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { mayBeAppended } from '../appended.ts'
import { lastWord } from '../indexes.ts'
import { isAsExpected } from '../partition.ts'
import type { Change, IndexRange, ReadRequest, Snapshot, Stored, Template } from '../port.ts'
import { resolveTemplates } from '../templates.ts'
import { KnownRecords } from './known-records.ts'
import { changedBy, lastRevisionOf, type Changed, type CommitRevisions } from './last-commits.ts'
import type { Answers, Question } from './question.ts'
import { Views, type View } from './views.ts'

/** The memory that an entry of a page takes, in bytes, and that an index takes. */
const [ENTRY_BYTES, INDEX_BYTES] = [250, 300]
/** The least size, in bytes: what one request reads has a place in it. */
const LEAST_BYTES = 1024 * 1024
/** The part of the memory that is for pages, and for indexes. The rest is for records. */
const [PAGES, INDEXES] = [0.15, 0.05]
/** So many entries without their records are asked for with the revision of their index. */
const FEW_ENTRIES = 8

/** The memory that a cache may take by default, in bytes: an eighth of what the process may use for objects. */
function defaultCacheBytes(): number {
  return getHeapStatistics().heap_size_limit / 8
}

interface KnownIndex {
  /** null: it is empty */
  readonly revision: string | null
  /** whether it had another revision before */
  readonly hasChanged: boolean
  /** undefined: it may have changed */
  view: View | undefined
}

/** What a range of an index has. */
interface KnownPage {
  readonly index: KnownIndex
  readonly entries: readonly string[]
  /** the names of their records in Redis */
  readonly names: readonly string[]
}

/** A commit of this process. */
export interface SentCommit {
  readonly change: Change
  /** in Redis, of what it puts */
  readonly texts: readonly string[]
}

/** In place of a record that is not known. */
const UNKNOWN: Stored = { revision: '', value: {} }

/**
 * What a process has read from Redis, so that it neither fetches nor parses again what has not changed. It answers nothing by itself. An
 * answer is made of what is true at one revision of the partition, and the caller has read in this very read that the partition has this
 * revision. Each commit gives its partition, and all that it writes, a revision that is never used again, and says what it has changed. So
 * what the commits since a revision do not name is as it was, whoever made them.
 */
export class ReadCache {
  readonly #records: KnownRecords
  readonly #pages: LRUCache<string, KnownPage>
  readonly #indexes: LRUCache<string, KnownIndex>
  readonly #views = new Views((base, { revision, changed }, view) => {
    this.forget(base, changed)
    const own = this.#sent.get(revision)
    if (own !== undefined) this.#noteWritten(base, own, view)
  })
  /** the commits of this process that are on their way, by their revisions: others may read of them before their replies come */
  readonly #sent = new Map<string, SentCommit>()

  /** @param bytes the memory that it may take, roughly; a mebibyte at least */
  constructor(bytes = defaultCacheBytes()) {
    const part = (share: number) => Math.ceil(Math.max(bytes, LEAST_BYTES) * share)
    this.#records = new KnownRecords(part(1 - PAGES - INDEXES))
    this.#pages = new LRUCache({ maxSize: part(PAGES), sizeCalculation: ({ entries }) => ENTRY_BYTES * entries.length + INDEX_BYTES })
    this.#indexes = new LRUCache({ maxSize: part(INDEXES), sizeCalculation: () => INDEX_BYTES })
  }

  /** The memory that it takes, roughly. */
  get bytes(): number {
    return this.#records.bytes + this.#pages.calculatedSize + this.#indexes.calculatedSize
  }

  /** The revision that is known of a partition; undefined: none. */
  revisionOf(base: string): string | undefined {
    return this.#views.get(base)?.revision
  }

  /** Remembers the last commits of a partition, and forgets what they have changed. See `Views.note`. */
  noteCommits(base: string, text: string | null, after: string | undefined): View {
    return this.#views.note(base, text, after)
  }

  /** Remembers a commit that this process sends. It ends with {@link ReadCache.noteOutcome}. */
  noteSent(sent: SentCommit): void {
    this.#sent.set(sent.change.revision, sent)
  }

  /** Remembers what a commit of this process has written, and forgets what it has changed. @param revisions undefined: it may not be made */
  noteOutcome(base: string, sent: SentCommit, revisions: CommitRevisions | undefined): void {
    const { change } = sent
    if (revisions !== undefined) {
      const changed = changedBy(change)
      const view = this.#views.noteOwn(base, { revision: revisions.revision, changed }, revisions.previous)
      if (view === undefined) this.forget(base, changed)
      if (view !== 'ahead') this.#noteWritten(base, sent, view)
    }
    this.#sent.delete(change.revision)
  }

  /** @param view undefined: by now others may have changed it */
  #noteWritten(base: string, { change, texts }: SentCommit, view: View | undefined): void {
    const { revision, put, remove } = change
    let i = 0
    for (const [key, value] of put) this.#records.set(`${base}:r:${key}`, { revision, value }, texts[i++]!.length, view)
    for (const key of remove) this.#records.set(`${base}:r:${key}`, null, 0, view)
  }

  /** Forgets what may have changed. Values stay: they may be found unchanged. */
  forget(base: string, { records, indexes }: Changed): void {
    for (const key of records) this.#records.forget(`${base}:r:${key}`)
    for (const index of indexes) {
      const known = this.#indexes.peek(`${base}:i:${index}`)
      if (known !== undefined) known.view = undefined
    }
  }

  /**
   * Remembers a record.
   * @param view undefined: it may have changed since it was read
   * @returns the same object as before if it has not changed
   */
  noteRecord(name: string, text: string | null, view: View | undefined): Stored | null {
    return this.#records.note(name, text, view)
  }

  /** See `Store.recall`. */
  recall(base: string, templates: readonly Template[]): Snapshot['records'] | undefined {
    let isKnown = true
    const found = resolveTemplates(templates, (key) => {
      const stored = this.#records.get(`${base}:r:${key}`)
      isKnown &&= stored !== undefined
      return stored ?? null
    })
    return isKnown ? found : undefined
  }

  /** Remembers an index. @param view undefined: it may have changed since it was read */
  noteIndex(base: string, index: string, revision: string | null, view: View | undefined): void {
    const name = `${base}:i:${index}`
    const known = this.#indexes.get(name)
    // An index can be empty again and again, so its pages are new then.
    const isSame = known?.revision === revision && (revision !== null || known.view === view)
    if (isSame) known.view = view ?? known.view
    else this.#indexes.set(name, { revision, hasChanged: known !== undefined, view })
  }

  /** Remembers the entries that a range has at the revision of its index, which was remembered right before. */
  notePage(base: string, range: IndexRange, entries: readonly string[]): void {
    const { fetch } = range
    const index = this.#indexes.get(`${base}:i:${range.index}`)
    const names = fetch === undefined ? [] : entries.map((entry) => `${base}:r:${fetch}${lastWord(entry)}`)
    if (index !== undefined) this.#pages.set(nameOf(base, range), { index, entries, names })
  }

  /**
   * What has to be asked to answer a read.
   * @returns undefined if the keys of all its records cannot be guessed
   */
  questionFor(base: string, { records, ranges, expect }: ReadRequest): Question | undefined {
    const keys = this.#guessKeys(base, records)
    if (keys === undefined) return undefined
    const view = this.#views.get(base)
    // A few records cost no more than the question whether they have changed.
    const isAsked = (name: string): boolean => ranges.length === 0 || this.#records.getIn(view, name) === undefined
    const names = keys.flatMap((key) => (key === null ? [] : `${base}:r:${key}`)).filter(isAsked)
    let length = 0
    const add = (name: string): void => {
      if (!isAsked(name)) return
      names.push(name)
      length += this.#records.lengthOf(name)
    }
    for (const key of expect.records.keys()) add(`${base}:r:${key}`)
    const indexes = new Map<string, string | null | undefined>()
    /** @returns the index as it is or, if that is not known, was */
    const addIndex = (index: string): KnownIndex | undefined => {
      const known = this.#indexes.get(`${base}:i:${index}`)
      if (known?.view === undefined || known.view !== view) indexes.set(index, known?.revision)
      return known
    }
    for (const index of expect.indexes.keys()) addIndex(index)
    const unknown: IndexRange[] = []
    for (const range of ranges) {
      const index = addIndex(range.index)
      const page = this.#pages.get(nameOf(base, range))
      // It costs less to read a few entries than to ask again because they have changed, or change meanwhile.
      const isFew = range.fetch === undefined && range.limit <= FEW_ENTRIES && (indexes.has(range.index) || index?.hasChanged === true)
      if (!isFew && page !== undefined && page.index === index) for (const name of page.names) add(name)
      // A script reads entries and records at once.
      else if (page === undefined && range.fetch !== undefined && index?.revision !== null) return undefined
      else {
        unknown.push(range)
        indexes.set(range.index, index?.revision)
      }
    }
    return { names, indexes, ranges: unknown, length, after: view?.revision }
  }

  /** @returns null in place of a key that a template does not have; undefined: a record that a template refers to is not known */
  #guessKeys(base: string, templates: readonly Template[]): (string | null)[] | undefined {
    let isKnown = true
    const guessed = resolveTemplates(templates, (key) => {
      const stored = this.#records.get(`${base}:r:${key}`)
      return stored === undefined ? UNKNOWN : stored
    })
    for (const template of templates)
      if (typeof template !== 'string')
        for (const part of template) if (typeof part !== 'string') isKnown &&= guessed[part.index]!.stored !== UNKNOWN
    return isKnown ? guessed.map(({ key }) => key) : undefined
  }

  /**
   * Remembers the answers to a question. The revisions of the indexes were read after the records: an index that then has the revision that
   * it had before the question had it when the records were read, too, whatever else has changed.
   */
  noteAnswers(base: string, question: Question, { first, records, pages, revisions, last }: Answers): View {
    const { after, names } = question
    const isOneMoment = first === last
    const view = this.noteCommits(base, first, after)
    const revision = lastRevisionOf(first)
    const ahead = view.revision === revision ? [] : this.#views.between(revision, view.revision)!
    const hasChanged = (list: keyof Changed, name: string) => ahead.some(({ changed }) => changed[list].includes(name))
    const isOutdated = (key: string, text: string | null) =>
      hasChanged('records', key) || (text === null && ahead.length > 0 && mayBeAppended(key))
    for (const [i, name] of names.entries())
      if (!isOutdated(name.slice(base.length + 3), records[i]!)) this.noteRecord(name, records[i]!, view)
    for (const [i, [index, before]] of [...question.indexes].entries()) {
      const revision = revisions[i]!
      const isSame = revision !== null && before === revision
      if (!hasChanged('indexes', index)) this.noteIndex(base, index, revision, isOneMoment || isSame ? view : undefined)
    }
    if (!isOneMoment) return this.noteCommits(base, last, after)
    for (const [i, range] of question.ranges.entries()) if (!hasChanged('indexes', range.index)) this.notePage(base, range, pages[i]!)
    return view
  }

  /**
   * Answers a read with what is true at the revision of a view. The answer has no counts.
   * @returns null when the expectation is not met; undefined: not everything is known
   */
  answer(base: string, { records, ranges, expect }: ReadRequest, view: View): Snapshot | null | undefined {
    const indexAt = (index: string): KnownIndex | undefined => {
      const known = this.#indexes.get(`${base}:i:${index}`)
      return known?.view === view ? known : undefined
    }
    for (const [key, expected] of expect.records) {
      const stored = this.#records.getIn(view, `${base}:r:${key}`)
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
      const stored = this.#records.getIn(view, `${base}:r:${key}`)
      isKnown &&= stored !== undefined
      return stored ?? null
    })
    if (!isKnown) return undefined
    const pages: Snapshot['ranges'][number][] = []
    for (const range of ranges) {
      const known = indexAt(range.index)
      if (known === undefined) return undefined
      const page = this.#pages.get(nameOf(base, range))
      if (page?.index !== known) return undefined
      const fetched: (Stored | null)[] = []
      for (const name of page.names) {
        const stored = this.#records.getIn(view, name)
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
