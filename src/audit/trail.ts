import type { AuditBatch, AuditEntry } from '../model/audit.ts'
import { type Deps, transact } from '../store/transact.ts'
import { indexes, type Index } from '../store/indexes.ts'

/** A part of the audit trail: one workspace's, or the part that belongs to no workspace. */
export interface TrailSource {
  /** the id of the workspace, or `global` */
  readonly partition: string
  /** only what concerns this user */
  readonly userId?: string | undefined
}

/** An entry with where it was found. */
export interface TrailEntry extends AuditEntry {
  readonly partition: string
}

/** A page of the audit trail, newest first. */
export interface TrailPage {
  readonly entries: readonly TrailEntry[]
  /** where the next page begins; undefined: this is the last page */
  readonly next: string | undefined
}

/** What to read of the trail. */
export interface TrailRequest {
  readonly sources: readonly TrailSource[]
  readonly matches: (entry: AuditEntry) => boolean
  /** a page ends with the batch that reaches this number of entries, so it has a few more */
  readonly limit: number
  /** {@link TrailPage.next} of the page before */
  readonly before?: string | undefined
  /** batches before this time are not read; empty: all are */
  readonly since?: string
}

/** The form of {@link TrailPage.next}. */
const CURSOR = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z aud_[0-9a-z]{20}$/
/** Batches per read. */
const BATCHES = 50
/** The batches that one page examines: a filter that matches nothing must not read everything at once. */
const MAX_BATCHES = 2000

/** Whether a text has the form of a cursor. */
export function isTrailCursor(text: string): boolean {
  return CURSOR.test(text)
}

/** Reads a page of the audit trail. It consists of whole batches, of all sources in the order of their times. */
export async function readTrail(deps: Deps, { sources, matches, limit, before, since = '' }: TrailRequest): Promise<TrailPage> {
  const readers = sources.map((source) => new SourceReader(deps, source, before, since))
  const entries: TrailEntry[] = []
  let next: string | undefined
  for (let batches = 0; batches < MAX_BATCHES && entries.length < limit; batches++) {
    await Promise.all(readers.map((reader) => reader.fill()))
    const latest = readers.reduce<SourceReader | undefined>(
      (found, reader) => (reader.head !== undefined && (found === undefined || reader.head > found.head!) ? reader : found),
      undefined,
    )
    if (latest === undefined) return { entries, next: undefined }
    next = latest.head
    for (const entry of latest.take().entries.toReversed())
      if (matches(entry) && concerns(entry, latest.source)) entries.push({ ...entry, partition: latest.source.partition })
  }
  await Promise.all(readers.map((reader) => reader.fill()))
  return { entries, next: readers.some(({ head }) => head !== undefined) ? next : undefined }
}

function concerns({ user_id, subject_id }: AuditEntry, { userId }: TrailSource): boolean {
  return userId === undefined || user_id === userId || subject_id === userId
}

/** Reads the batches of one source, newest first. */
class SourceReader {
  readonly source: TrailSource
  readonly #deps: Deps
  readonly #index: Index<AuditBatch>
  readonly #since: string
  #before: string | undefined
  #batches: (readonly [entry: string, batch: AuditBatch])[] = []
  #isExhausted = false

  constructor(deps: Deps, source: TrailSource, before: string | undefined, since: string) {
    this.source = source
    this.#deps = deps
    this.#index = source.userId === undefined ? indexes.audit() : indexes.auditOf(source.userId)
    this.#before = before
    this.#since = since
  }

  /** The index entry of the newest batch that was not taken yet. */
  get head(): string | undefined {
    return this.#batches[0]?.[0]
  }

  async fill(): Promise<void> {
    if (this.#batches.length > 0 || this.#isExhausted) return
    const { store, random } = this.#deps
    const { entries, values } = await transact(store, this.source.partition, random, (tx) =>
      tx.range(this.#index, { limit: BATCHES, reverse: true, weak: true, before: this.#before, after: this.#since || undefined }),
    )
    this.#isExhausted = entries.length < BATCHES
    this.#before = entries.at(-1) ?? this.#before
    this.#batches = entries.flatMap((entry, i) => (values[i] === undefined ? [] : [[entry, values[i]] as const]))
  }

  take(): AuditBatch {
    return this.#batches.shift()![1]
  }
}
