import { LRUCache } from 'lru-cache'
import { placeIn, type Client, type Scheduler } from '../resources/scheduler.ts'

/** Bytes of an answer that cost one unit, and that a slice of the event loop serializes. */
const UNIT_BYTES = 64 * 1024
/** Questions of an evaluation that cost one unit. */
const UNIT_QUESTIONS = 4
/** Slices of a search that cost one unit. */
const UNIT_SLICES = 4
/** A unit is about a millisecond of work: this many times as long is left to others. */
const PAUSES = 2
/** How many reads of a kind are performed at once, unless they wait for slices. */
const READS_AT_ONCE = 4
/** Kinds of requests of which is known what the last one cost. */
const REMEMBERED = 10_000

/** The work that a request makes, and its price in units (api: Contract 3, number 9). Most requests cost 1. */
export class Work {
  /** who asks for what; undefined: a person in the web app, or nobody knows */
  kind: string | undefined
  /** whether it has one of the places of its kind */
  hasPlace = false
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
 * reading them takes time, too. So a request whose kind was expensive the last time waits before it is performed. Others of its kind may
 * cost more than the last one, which had another target: so few reads of a kind are performed at once without having waited.
 */
export class Admission {
  readonly #scheduler: Scheduler
  /** the kind of a request → the units that the last one cost besides the first */
  readonly #expected = new LRUCache<string, number>({ max: REMEMBERED })
  /** the kinds of which reads are in progress that have not waited */
  readonly #reads = new Map<string, Reads>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /**
   * Waits before a request is performed. {@link Admission.end} must follow.
   * @param isShort it waits for nothing, neither for its client nor for others
   * @returns undefined if it need not wait
   * @throws {ApiError} `request_timeout`, as a rejection, when the client leaves before
   */
  begin(client: Client, work: Work, isShort: boolean): Promise<void> | undefined {
    const { kind } = work
    if (kind === undefined) return undefined
    const expected = this.#expected.get(kind) ?? 0
    if (expected > 0) return this.#wait(client, expected, work)
    if (!isShort) return undefined
    const reads = this.#reads.get(kind) ?? { places: 0, waiting: new Set() }
    this.#reads.set(kind, reads)
    if (reads.places === READS_AT_ONCE)
      return placeIn(reads.waiting, client.signal, (enter): Entry => ({ work, enter })).then(() =>
        work.hasPlace ? undefined : this.begin(client, work, isShort),
      )
    reads.places++
    work.hasPlace = true
    return undefined
  }

  /** Waits for what the work costs as far as it is known now, besides the first unit and what it has waited for. */
  more(client: Client, units: number, work: Work): Promise<void> | undefined {
    const missing = units - work.admitted
    return missing <= 0 ? undefined : this.#wait(client, missing, work)
  }

  /** Waits before more of an answer is serialized. @param made the bytes that were, roughly */
  serialize(client: Client, made: number, work: Work): Promise<void> | undefined {
    return this.more(client, slicesOf(made), work)
  }

  /** Remembers what a request has cost. @param isDone false: it was refused */
  end(work: Work, isDone = true): void {
    const { kind } = work
    if (kind === undefined) return
    if (isDone || work.units > 1) this.#expected.set(kind, work.units - 1)
    if (work.hasPlace) this.#leave(kind, work)
  }

  /** Its place is that of the next one; but if its kind is expensive, all others wait for slices. */
  #leave(kind: string, work: Work): void {
    work.hasPlace = false
    const { waiting } = this.#reads.get(kind)!
    const [next] = waiting
    if (next !== undefined && (this.#expected.get(kind) ?? 0) === 0) {
      waiting.delete(next)
      next.work.hasPlace = true
      return next.enter()
    }
    if (--this.#reads.get(kind)!.places === 0) this.#reads.delete(kind)
    for (const { enter } of waiting) enter()
    waiting.clear()
  }

  #wait(client: Client, slices: number, work: Work): Promise<void> {
    work.admitted += slices
    return this.#scheduler.slice(client, slices * PAUSES)
  }
}

/** A read that waits for a place. */
interface Entry {
  readonly work: Work
  readonly enter: () => void
}

/** The reads of a kind that have not waited for slices. */
interface Reads {
  /** those that are performed */
  places: number
  readonly waiting: Set<Entry>
}
