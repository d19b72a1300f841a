import { LRUCache } from 'lru-cache'
import type { Scheduler } from '../resources/scheduler.ts'

/** Bytes of an answer that cost one unit, and that a slice of the event loop serializes. */
const UNIT_BYTES = 64 * 1024
/** Questions of an evaluation that cost one unit. */
const UNIT_QUESTIONS = 4
/** Slices of a search that cost one unit. */
const UNIT_SLICES = 4
/** A unit is about a millisecond of work: this many times as long is left to others. */
const PAUSES = 2
/** How many reads of a kind that is not known yet are performed at once. */
const FIRST_AT_ONCE = 4
/** Kinds of requests of which is known what the last one cost. */
const REMEMBERED = 10_000

/** The work that a request makes, and its price in units (api: Contract 3, number 9). Most requests cost 1. */
export class Work {
  /** who asks for what; undefined: a person in the web app, or nobody knows */
  kind: string | undefined
  /** whether others of its kind wait for it */
  isFirst = false
  /** operations of a batch */
  operations = 1
  /** questions of an evaluation */
  questions = 0
  /** slices in which a search has examined cards */
  slices = 0
  /** of the body of the answer, unless it is a file */
  bytes = 0
  /** the slices that it has waited for */
  admitted = 0

  /** What is known before the work is done, in units. */
  get stated(): number {
    return Math.max(this.operations, Math.ceil(this.questions / UNIT_QUESTIONS))
  }

  /** Its price. */
  get units(): number {
    return this.stated + Math.floor(this.slices / UNIT_SLICES) + slicesOf(this.bytes)
  }
}

/** The slices of the event loop that it takes to serialize some bytes, besides those that every answer has. */
function slicesOf(bytes: number): number {
  return Math.floor(bytes / UNIT_BYTES)
}

/**
 * Lets what costs more than one unit wait for its share of the event loop. The cost of an answer is known when its records were read; but
 * reading them takes time, too. So a request whose kind was expensive the last time waits before it is performed, and of reads that are not
 * known yet, few are performed at once.
 */
export class Admission {
  readonly #scheduler: Scheduler
  /** the kind of a request → the units that the last one cost besides the first */
  readonly #expected = new LRUCache<string, number>({ max: REMEMBERED })
  /** the kinds of which the first reads are in progress; who waits for their cost */
  readonly #first = new Map<string, FirstReads>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /**
   * Waits before a request is performed. {@link Admission.end} must follow.
   * @param isShort it waits for nothing, neither for its client nor for others
   * @returns undefined if it need not wait
   */
  begin(workspaceId: string, work: Work, isShort: boolean): Promise<void> | undefined {
    const { kind } = work
    if (kind === undefined) return undefined
    const expected = this.#expected.get(kind)
    if (expected !== undefined) return expected === 0 ? undefined : this.#wait(workspaceId, expected, work)
    if (!isShort) return undefined
    const first = this.#first.get(kind) ?? { running: 0, waiting: [] }
    this.#first.set(kind, first)
    if (first.running === FIRST_AT_ONCE)
      return new Promise<void>((begin) => first.waiting.push(begin)).then(() => this.begin(workspaceId, work, isShort))
    first.running++
    work.isFirst = true
    return undefined
  }

  /** Waits before more of an answer is serialized. @param made the bytes that were, roughly */
  serialize(workspaceId: string, made: number, work: Work): Promise<void> | undefined {
    const missing = slicesOf(made) - work.admitted
    return missing <= 0 ? undefined : this.#wait(workspaceId, missing, work)
  }

  /** Remembers what a request has cost. @param isDone false: it was refused */
  end(work: Work, isDone = true): void {
    const { kind } = work
    if (kind === undefined) return
    if (isDone || work.units > 1) this.#expected.set(kind, work.units - 1)
    if (!work.isFirst) return
    work.isFirst = false
    const first = this.#first.get(kind)!
    if (--first.running === 0) this.#first.delete(kind)
    for (const begin of first.waiting.splice(0)) begin()
  }

  #wait(workspaceId: string, slices: number, work: Work): Promise<void> {
    work.admitted += slices
    return this.#scheduler.slice(workspaceId, slices * PAUSES)
  }
}

/** Reads of a kind that is not known yet. */
interface FirstReads {
  running: number
  readonly waiting: (() => void)[]
}
