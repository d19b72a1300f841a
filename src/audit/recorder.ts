import type { Logger } from 'pino'
import { shortAgent, type AuditBatch, type AuditEntry } from '../model/audit.ts'
import { newId } from '../model/ids.ts'
import { timestamp, DAY } from '../model/time.ts'
import { type Deps, transact } from '../store/transact.ts'
import { keys } from '../store/keys.ts'
import { durations } from '../model/durations.ts'
import type { Tombstone } from '../model/tombstone.ts'

/** An entry to add. The rest of it is unknown unless it is stated. */
export type NewEntry = Pick<AuditEntry, 'operation' | 'outcome' | 'status' | 'request_id'> & Partial<AuditEntry>

const UNKNOWN = { user_id: null, token_id: null, token_name: null, ids: [], rows: [], code: null, address: null, agent: null } as const

type Writable<T> = { -readonly [Member in keyof T]: T[Member] }

/** How entries are written. */
export interface AuditOptions {
  /** milliseconds between an entry and its commit */
  readonly interval?: number
  /** the entries of a full batch, which is written at once */
  readonly batch?: number
  /** the entries that wait in this process; further ones are dropped */
  readonly waiting?: number
}

/** How many entries were written and dropped since the start. */
export interface AuditCounts {
  readonly written: number
  readonly dropped: number
}

/** The entries of one partition that wait, and the batch that is being written. */
interface Queue {
  entries: AuditEntry[]
  /** what was denied → its place among the entries */
  readonly denials: Map<string, number>
  /** a batch that could not be written */
  failed: AuditBatch | undefined
  attempts: number
  writing: Promise<void> | undefined
}

const ATTEMPTS = 6
/** The defaults of the options. */
const [BATCH, WAITING] = [100, 20_000]

/**
 * Collects entries of the audit trail in memory, and appends them in batches in the background: no request waits for it, and none fails
 * because of it. A crash loses what has not been written, which is a second of work. When storage fails, a batch is tried again; at last it
 * is dropped, counted, and the log warns. The record that nothing is done without is the decision log.
 */
export class AuditRecorder {
  readonly #deps: Deps
  readonly #log: Logger
  readonly #options: Required<AuditOptions>
  readonly #queues = new Map<string, Queue>()
  #waiting = 0
  #timer: NodeJS.Timeout | undefined
  #isDropping = false
  readonly #counts = { written: 0, dropped: 0 }

  constructor(deps: Deps, log: Logger, { interval = 1000, batch = BATCH, waiting = WAITING }: AuditOptions = {}) {
    this.#deps = deps
    this.#log = log
    this.#options = { interval, batch, waiting }
  }

  get counts(): AuditCounts {
    return this.#counts
  }

  /** Adds an entry to the trail of a workspace, or to the trail that belongs to no workspace. Never throws. */
  add(partition: string, added: NewEntry): void {
    // Not with a spread, which takes microseconds for several objects.
    const entry: Writable<AuditEntry> = Object.assign({ at: timestamp(this.#deps.clock) }, UNKNOWN, added)
    entry.agent = shortAgent(entry.agent)
    let queue = this.#queues.get(partition)
    if (queue === undefined) {
      queue = { entries: [], denials: new Map(), failed: undefined, attempts: 0, writing: undefined }
      this.#queues.set(partition, queue)
    }
    if (entry.outcome === 'denied' && isRepeated(queue, entry)) return
    if (this.#waiting >= this.#options.waiting) return this.#drop(1)
    this.#waiting++
    queue.entries.push(entry)
    if (queue.entries.length >= this.#options.batch && queue.failed === undefined) void this.#write(partition, queue)
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => void this.#writeAll(), this.#options.interval)
      this.#timer.unref()
    }
  }

  /** Writes all entries that wait. What cannot be written now is dropped. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#queues.size > 0) {
      for (const [, queue] of this.#queues) queue.attempts = ATTEMPTS
      await this.#writeAll()
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #writeAll(): Promise<void> {
    this.#timer = undefined
    await Promise.all([...this.#queues].map(([partition, queue]) => this.#write(partition, queue)))
    if (this.#queues.size === 0 || this.#timer !== undefined) return
    const attempts = Math.max(...[...this.#queues.values()].map((queue) => queue.attempts))
    this.#timer = setTimeout(() => void this.#writeAll(), this.#options.interval * 2 ** attempts)
    this.#timer.unref()
  }

  async #write(partition: string, queue: Queue): Promise<void> {
    if (queue.writing !== undefined) return queue.writing
    queue.writing = this.#writeNext(partition, queue).finally(() => (queue.writing = undefined))
    await queue.writing
    if (queue.failed !== undefined) return
    if (queue.entries.length >= this.#options.batch) await this.#write(partition, queue)
    else if (queue.entries.length === 0 && this.#queues.get(partition) === queue) this.#queues.delete(partition)
  }

  async #writeNext(partition: string, queue: Queue): Promise<void> {
    const batch = queue.failed ?? this.#take(queue)
    if (batch === undefined) return
    try {
      await this.#commit(partition, batch)
      this.#counts.written += batch.entries.length
      this.#isDropping = false
    } catch (error) {
      if (++queue.attempts < ATTEMPTS) return void (queue.failed = batch)
      this.#log.warn({ event: 'audit.failed', partition, entries: batch.entries.length, err: error }, 'entries of the audit trail are lost')
      this.#drop(batch.entries.length)
    }
    this.#waiting -= batch.entries.length
    queue.failed = undefined
    queue.attempts = 0
  }

  #take(queue: Queue): AuditBatch | undefined {
    const entries = queue.entries.slice(0, this.#options.batch)
    if (entries.length === 0) return undefined
    queue.entries = queue.entries.slice(entries.length)
    queue.denials.clear()
    const users = new Set(entries.flatMap(({ user_id, subject_id }) => [user_id, subject_id]).filter((id) => typeof id === 'string'))
    return { id: newId('audit', this.#deps.random), at: timestamp(this.#deps.clock), users: [...users], entries }
  }

  /** A batch whose outcome was unknown may be there already. */
  async #commit(partition: string, batch: AuditBatch): Promise<void> {
    const { store, random, clock } = this.#deps
    const tombstone = auditTombstone(clock())
    await transact(store, partition, random, async (tx) => {
      const [stored, scheduled] = await tx.read([keys.audit(batch.id), keys.tombstone(tombstone.id)])
      if (stored === undefined) tx.put(keys.audit(batch.id), batch)
      if (scheduled === undefined) tx.put(keys.tombstone(tombstone.id), tombstone)
    })
  }

  #drop(count: number): void {
    this.#counts.dropped += count
    if (this.#isDropping) return
    this.#isDropping = true
    this.#log.warn({ event: 'audit.dropped' }, 'the audit trail cannot take further entries: some are dropped until storage answers')
  }
}

/** Counts a denial that is among the entries that wait: a client that probes often does not fill the trail. */
function isRepeated({ entries, denials }: Queue, entry: AuditEntry): boolean {
  const { user_id, token_id, operation, ids, status, code, address, agent } = entry
  const key = [user_id, token_id, operation, ids.join(), status, code, address, agent].join('\n')
  const place = denials.get(key)
  const known = place === undefined ? undefined : entries[place]
  if (known === undefined) {
    denials.set(key, entries.length)
    return false
  }
  entries[place!] = { ...known, count: (known.count ?? 1) + 1 }
  return true
}

/**
 * The tombstone of the entries that a partition gets on one day. It has the id that the day gives, so that every process writes the
 * same one. It is due after the day, and again when all entries of the day are too old.
 */
export function auditTombstone(now: number): Tombstone {
  const day = Math.floor(now / DAY)
  return {
    id: `tmb_0000000000000a0${String(day).padStart(5, '0')}`,
    kind: 'audit',
    target: 'self',
    not_before: timestamp(() => (day + 1) * DAY + durations.clockSkew),
  }
}
