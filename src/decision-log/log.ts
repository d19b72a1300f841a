import { randomBytes } from 'node:crypto'
import { encodeLine } from './line.ts'
import { LeftOut } from './left-out.ts'
import type { Sink } from './sink.ts'
import type { DiskSpace, LogSpace } from './space.ts'

/** When lines are synced. `always`: before what waits for them goes on; `interval`: every second. */
export type SyncPolicy = 'always' | 'interval' | 'never'
/** What happens when a line cannot be written. `fail`: nothing is done without a record; `drop`: the record is left out, and counted. */
export type FullPolicy = 'fail' | 'drop'

export interface LogOptions {
  readonly sync: SyncPolicy
  readonly onFull: FullPolicy
  /** SHA-256 of the policy at the start */
  readonly policy: string
  readonly clock: () => number
  /** the bytes of lines that may wait; default: 8 MiB */
  readonly queueBytes?: number
  /** the space of its disk; default: it has none */
  readonly space?: LogSpace | undefined
  /** is called when lines cannot be written, and when they can again */
  readonly onState?: (failure: Error | undefined) => void
}

/** What was counted since the start. */
export interface LogCounts {
  readonly written: number
  /** with `drop`: the records that were left out */
  readonly dropped: number
  /** with `fail`: the requests that were refused because their records could not be written */
  readonly refused: number
}

/** A line cannot be written now. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
}

/** A line that is written, or waits for it. */
export interface Entry {
  readonly body: string
  /** its number in the log, as soon as it is written */
  n?: number
  /** the records that it stands for; default: one */
  readonly records?: number
  readonly done?: () => void
  readonly failed?: (error: LogUnavailable) => void
}

/** Lines that follow the last one of a chain, and what the chain is if they are written. */
interface EncodedLines {
  readonly bytes: Buffer
  readonly head: string | null
  readonly next: number
}

const QUEUE = 8 * 1024 * 1024
/** The size of lines that are written at once without a delay, in bytes. */
const BATCH = 64 * 1024
/** The longest delay, in milliseconds, of lines that no request waits for. */
const DELAY = 100
/** The time between syncs with `interval`, in milliseconds. */
const SYNC_INTERVAL = 1000

/**
 * A log of records as a chain of lines. Lines that come while others are written are written together. The chain is made when a line is
 * written, so that what could not be written is no part of it.
 */
export class DecisionLog {
  readonly #sink: Sink
  readonly #options: LogOptions
  readonly #queueBytes: number
  readonly #name: string
  #queue: Entry[] = []
  #bytes = 0
  /** the hash of the last line */
  #head: string | null
  /** the number of the next line */
  #next: number
  /** a line break that the file lacks */
  #lead: string
  #isRunning = false
  #work: Promise<void> | undefined
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #syncTimer: NodeJS.Timeout | undefined
  #isSyncDue = false
  #failure: Error | undefined
  /** nothing can be written until a restart */
  #isBroken = false
  /** records that are missing since the last line */
  #missing = 0
  readonly #leftOut = new LeftOut((source, count) => this.#stateLeftOut(source, count))
  #counts = { written: 0, dropped: 0, refused: 0 }

  private constructor(sink: Sink, options: LogOptions) {
    this.#sink = sink
    this.#options = options
    this.#queueBytes = options.queueBytes ?? QUEUE
    const { head, next, isOpen } = sink.end
    this.#head = head
    this.#next = next
    this.#lead = isOpen ? '\n' : ''
    const chain = randomBytes(8).toString('hex')
    this.#name = `"chain":"${chain}","pid":${process.pid},"started":"${this.#time()}","policy":"${options.policy}"`
  }

  /**
   * Begins a chain after what the sink has.
   * @throws if its first line cannot be written
   */
  static async open(sink: Sink, options: LogOptions): Promise<DecisionLog> {
    const log = new DecisionLog(sink, options)
    const { torn } = sink.end
    try {
      await log.#writeNow([{ body: `"kind":"start",${log.#name}${torn === undefined ? '' : `,"torn":${JSON.stringify(torn)}`}` }])
    } catch (error) {
      await sink.close()
      throw error
    }
    log.#counts.written = 0
    return log
  }

  /** The hash of the last line. */
  get head(): string | null {
    return this.#head
  }

  get counts(): LogCounts {
    return this.#counts
  }

  /** The space of its disk; undefined if it has none, or that cannot be examined. */
  async space(): Promise<DiskSpace | undefined> {
    return this.#options.space?.read()
  }

  /** Whether what a line is about must wait until it is synced. */
  get isSynced(): boolean {
    return this.#options.sync === 'always'
  }

  /**
   * Checks that lines can be written.
   * @returns undefined if they can; with `fail`, a failed log first tries to write again
   * @throws {LogUnavailable} as a rejection
   */
  ready(): Promise<void> | undefined {
    if (this.#options.onFull === 'drop') return undefined
    if (this.#failure === undefined && this.#bytes < this.#queueBytes) return undefined
    return this.#recover()
  }

  /** Counts a request that was refused because of the log. */
  refuse(): void {
    this.#counts.refused++
    this.#missing++
  }

  /**
   * Asks for the line of a refusal that anyone can cause. At most ten of each source in a second are written; a line of the kind `left_out`
   * has the number of the others.
   * @param source the members that name it, as JSON
   * @returns whether the line is to be written
   */
  takesRefusal(source: string): boolean {
    return this.#leftOut.takes(source)
  }

  /** Writes a line soon. */
  append(body: string): void {
    this.#append({ body })
  }

  #append(entry: Entry): void {
    this.#enqueue(entry)
    if (this.#bytes >= BATCH) this.#begin()
    else if (!this.#isRunning) this.#timer ??= setTimeout(() => this.#begin(), DELAY).unref()
  }

  /**
   * Writes a line, and with `always` syncs it.
   * @throws {LogUnavailable} with `fail`, if it is not written
   */
  write(body: string): Promise<Entry> {
    return new Promise((resolve, reject) => {
      const entry: Entry = { body, done: () => resolve(entry), failed: reject }
      this.#enqueue(entry)
      if (this.#writeAtOnce()) return
      // After all requests that have arrived together.
      if (!this.#isRunning) this.#immediate ??= setImmediate(() => this.#begin())
    })
  }

  /** Writes all lines that wait. */
  async flush(): Promise<void> {
    do {
      this.#begin()
      await this.#work
    } while (this.#queue.length > 0 && this.#failure === undefined)
  }

  /**
   * Writes and syncs what waits.
   * @throws {LogUnavailable} if lines are lost
   */
  async close(): Promise<void> {
    this.#leftOut.end()
    await this.flush()
    // A failed log tries once more.
    await this.flush()
    if (!this.#isBroken && this.#options.sync !== 'never') await this.#sink.sync().catch((error: Error) => this.#fail(error))
    for (const timer of [this.#timer, this.#syncTimer]) clearTimeout(timer)
    await this.#sink.close()
    if (this.#queue.length > 0) throw new LogUnavailable(`the last ${this.#queue.length} lines of the decision log are lost`)
  }

  #stateLeftOut(source: string, count: number): void {
    this.#append({ body: `"time":"${this.#time()}","kind":"left_out",${source},"count":${count}`, records: count })
  }

  #time(): string {
    return new Date(this.#options.clock()).toISOString()
  }

  #enqueue(entry: Entry): void {
    if (this.#bytes >= this.#queueBytes && this.#options.onFull === 'drop') return this.#drop([entry])
    this.#queue.push(entry)
    this.#bytes += entry.body.length
  }

  /** Begins to write, unless it has begun: then it goes on until nothing waits. */
  #begin(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    this.#timer = undefined
    this.#immediate = undefined
    if (!this.#isRunning) this.#work = this.#run()
  }

  /** Never throws. */
  async #run(): Promise<void> {
    this.#isRunning = true
    do {
      const entries = this.#queue
      this.#queue = []
      this.#bytes = 0
      try {
        if (entries.length > 0 || this.#failure !== undefined) await this.#writeNow(entries)
        if (this.#isSyncDue) await this.#sync()
        for (const { done } of entries) done?.()
      } catch (error) {
        this.#fail(error as Error)
        this.#giveBack(entries)
        break
      }
    } while (this.#queue.length > 0 || this.#isSyncDue)
    this.#isRunning = false
  }

  /**
   * Writes all lines that wait in the same turn of the event loop, if nothing else is to be done: a commit that waits for its record is
   * not delayed, so that it conflicts no more often than without a log.
   * @returns whether they are written, or have failed
   */
  #writeAtOnce(): boolean {
    const { sync } = this.#options
    if (this.#isRunning || this.#failure !== undefined || this.#missing > 0 || sync === 'always') return false
    const entries = this.#queue
    const lines = this.#encode(entries.map(({ body }) => body))
    try {
      if (this.#sink.writeNow?.(lines.bytes) !== true) return false
    } catch (error) {
      this.#queue = []
      this.#fail(error as Error)
      this.#giveBack(entries)
      return true
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#queue = []
    this.#bytes = 0
    this.#advance(entries, lines)
    this.#requestInterval()
    for (const { done } of entries) done?.()
    return true
  }

  /** Makes lines that follow the last one. They are no part of the chain until they are written. */
  #encode(bodies: readonly string[]): EncodedLines {
    let [text, head, next] = [this.#lead, this.#head, this.#next]
    for (const body of bodies) {
      const line = encodeLine(head, next++, body)
      text += line.text
      head = line.hash
    }
    return { bytes: Buffer.from(text), head, next }
  }

  /**
   * Lines are a part of the file now, whether or not they are synced.
   * @param entries the last ones of them
   */
  #advance(entries: readonly Entry[], { head, next }: EncodedLines): void {
    for (const [i, entry] of entries.entries()) entry.n = next - entries.length + i
    this.#head = head
    this.#next = next
    this.#lead = ''
    this.#counts.written += entries.length
    void this.#options.space?.read()
  }

  #requestInterval(): void {
    if (this.#options.sync === 'interval') this.#syncTimer ??= setTimeout(() => this.#requestSync(), SYNC_INTERVAL).unref()
  }

  /** Writes lines, with those that the chain itself needs before them. */
  async #writeNow(entries: readonly Entry[]): Promise<void> {
    if (this.#isBroken) throw this.#failure!
    const isNew = await this.#sink.prepare()
    const before: string[] = []
    if (isNew) before.push(`"kind":"continue",${this.#name}`)
    if (this.#missing > 0) {
      const kind = this.#options.onFull === 'drop' ? 'dropped' : 'refused'
      before.push(`"time":"${this.#time()}","kind":"${kind}","count":${this.#missing}`)
    }
    const missing = this.#missing
    const lines = this.#encode([...before, ...entries.map(({ body }) => body)])
    if (lines.next > this.#next) await this.#sink.write(lines.bytes)
    this.#advance(entries, lines)
    this.#missing -= missing
    if (this.#options.sync === 'always') await this.#sink.sync()
    else this.#requestInterval()
    if (this.#failure !== undefined) this.#options.onState?.(undefined)
    this.#failure = undefined
  }

  #requestSync(): void {
    this.#syncTimer = undefined
    this.#isSyncDue = true
    this.#begin()
  }

  async #sync(): Promise<void> {
    this.#isSyncDue = false
    await this.#sink.sync()
  }

  #fail(error: Error): void {
    // After a failed sync, the content of the disk is unknown. By name: it is an error of the storage, which a log does not need.
    if (error.name === 'SyncFailed') this.#isBroken = true
    if (this.#failure === undefined) this.#options.onState?.(error)
    this.#failure = error
  }

  /** After a failure: what requests wait for is refused or dropped, and the lines of requests that were answered are written later. */
  #giveBack(entries: readonly Entry[]): void {
    const waiting = [...entries, ...this.#queue]
    this.#queue = []
    this.#bytes = 0
    if (this.#options.onFull === 'drop') return this.#drop(waiting)
    for (const entry of waiting)
      if (entry.failed !== undefined) entry.failed(this.#unavailable())
      else if (entry.n === undefined) {
        this.#queue.push(entry)
        this.#bytes += entry.body.length
      }
  }

  #drop(entries: readonly Entry[]): void {
    let lost = 0
    for (const { n, records = 1 } of entries) if (n === undefined) lost += records
    this.#counts.dropped += lost
    this.#missing += lost
    for (const { done } of entries) done?.()
  }

  #unavailable(): LogUnavailable {
    return new LogUnavailable('the decision log cannot be written', { cause: this.#failure })
  }

  async #recover(): Promise<void> {
    this.#begin()
    await this.#work
    if (this.#failure !== undefined || this.#bytes >= this.#queueBytes) throw this.#unavailable()
  }
}
