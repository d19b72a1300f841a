import type { Awaitable } from '../model/awaitable.ts'
import type { Clock } from '../model/time.ts'

/** Counters that several processes share. A count may get lost: they are for rate limits, not for data. */
export interface SharedCounters {
  /**
   * Adds to a counter, which is forgotten some time after it was created.
   * @param seconds this time
   * @returns the sum; undefined if the counters cannot be reached
   */
  add(key: string, points: number, seconds: number): Promise<number | undefined>
  close(): Promise<void>
}

/** The time in milliseconds between two exchanges with the shared counters. */
const INTERVAL = 500
/** The part of a limit that a process may use before the others know of it. */
const UNSETTLED = 1 / 100
/** The part of a limit beyond which each event is counted together with the others at once. */
const CERTAIN = 3 / 4

export interface CounterOptions {
  readonly clock: Clock
  /** milliseconds until a count is forgotten */
  readonly lifetime: number
  /** how many counts are remembered: of more, the one that was idle longest is forgotten */
  readonly most: number
  /**
   * how many milliseconds a count takes to fall by one event: it is then stated in milliseconds, and at most its lifetime. Default: it does
   * not fall
   */
  readonly every?: number
  /** default: this process counts alone */
  readonly shared?: SharedCounters | undefined
  /** of the keys of the shared counters */
  readonly prefix?: string
}

interface Count {
  value: number
  /** when it had this value */
  at: number
  /** the events in all processes, when they were last exchanged */
  known: number
  /** events of other processes that became known later than own ones */
  others: number
}

/**
 * Counts events by key. An event is counted in this process, usually without a round trip. If there are shared counters, the counts are
 * exchanged with them in batches, so that all processes count together.
 */
export class Counters {
  readonly #options: CounterOptions
  /** the key that was idle longest comes first */
  readonly #counts = new Map<string, Count>()
  #unsent = new Map<string, number>()
  /** the batch whose sums are not known yet */
  #sent: ReadonlyMap<string, number> = new Map()
  #sending: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: CounterOptions) {
    this.#options = options
  }

  /** The count of a key. */
  read(key: string): number {
    const count = this.#counts.get(key)
    return count === undefined ? 0 : this.#valueOf(count)
  }

  /**
   * Counts events.
   * @param events a negative number takes them back
   * @returns the count
   */
  add(key: string, events: number): number {
    const { clock, every = 1, shared, most } = this.#options
    const known = this.#counts.get(key)
    const count = known ?? { value: 0, at: 0, known: 0, others: 0 }
    const [before, now] = [count.at, clock()]
    count.value = Math.max(this.#valueOf(count) + events * every, 0)
    count.at = now
    // Each request has two counts that do not fall, and to move their keys took microseconds. While there is room, their order is right to
    // half a second only. Counts that fall throttle guesses: their order is exact.
    const isExact = this.#options.every !== undefined || this.#counts.size >= most
    const isMoved = known === undefined || isExact || Math.floor(before / INTERVAL) !== Math.floor(now / INTERVAL)
    if (isMoved) this.#counts.delete(key)
    this.#forget(now)
    if (isMoved) this.#counts.set(key, count)
    if (shared === undefined) return count.value
    this.#unsent.set(key, (this.#unsent.get(key) ?? 0) + events)
    this.#timer ??= setTimeout(() => void this.settle(), INTERVAL).unref()
    return count.value
  }

  /**
   * Counts events that are refused beyond a limit. It waits for the other processes if they know too little of this one, or if few events
   * remain: whoever chooses between processes by choosing connections has one limit. At most a hundredth of it is exceeded by each further
   * process.
   * @returns the count up to these events, those in other processes that came before them included
   */
  addWithin(limit: number, key: string, events: number): Awaitable<number> {
    const place = this.add(key, events)
    if (this.#options.shared === undefined || place > limit) return place
    const unsettled = this.#unsent.get(key)! + (this.#sent.get(key) ?? 0)
    if (place <= limit * CERTAIN && unsettled <= limit * UNSETTLED) return place
    const count = this.#counts.get(key)!
    const { others } = count
    return this.settle().then(() => place + count.others - others)
  }

  /**
   * Exchanges the counts with the shared counters now, after the batch that is on its way: the sums arrive in the order in which they were
   * made. If the counters cannot be reached, the batch is lost: this process counts alone meanwhile.
   */
  settle(): Promise<void> {
    return (this.#next ??= this.#sending.then(() => (this.#sending = this.#exchange())))
  }

  async #exchange(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#next = undefined
    const { shared, prefix = '', lifetime } = this.#options
    const batch = this.#unsent
    this.#sent = batch
    this.#unsent = new Map()
    await Promise.all(
      [...batch].map(async ([key, events]) => {
        const sum = events === 0 ? undefined : await shared!.add(prefix + key, events, Math.ceil(lifetime / 1000))
        if (sum !== undefined) this.#takeOver(key, sum, events)
      }),
    )
    this.#sent = new Map()
  }

  /** @param sum the events in all processes, including `sent` events in this one since the last exchange */
  #takeOver(key: string, sum: number, sent: number): void {
    const count = this.#counts.get(key)
    if (count === undefined) return
    // A smaller sum means a new counter: the old one was forgotten.
    const others = sum - sent < count.known ? sum - sent : sum - sent - count.known
    count.known = sum
    if (others <= 0) return
    const { clock, every = 1, lifetime } = this.#options
    const value = this.#valueOf(count) + others * every
    Object.assign(count, { value: this.#options.every === undefined ? value : Math.min(value, lifetime), at: clock() })
    count.others += others * every
  }

  /** If the clock was set back, nothing has fallen. */
  #valueOf({ value, at }: Count): number {
    const { clock, every } = this.#options
    return every === undefined ? value : Math.max(value - Math.max(clock() - at, 0), 0)
  }

  /** Makes room for one count. Two that are over are forgotten each time, so that not many remain. */
  #forget(now: number): void {
    let left = 2
    for (const [key, { at }] of this.#counts) {
      if (left-- === 0 || (now - at < this.#options.lifetime && this.#counts.size < this.#options.most)) return
      this.#counts.delete(key)
    }
  }
}
