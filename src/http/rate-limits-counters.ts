import type { Awaitable } from '../model/awaitable.ts'
import type { Clock } from '../model/time.ts'
import { CounterBatches, type SharedCounters } from '../store/counters.ts'

/** The length of a window in seconds. */
export const WINDOW = 60
/** The time in seconds after which a shared count is forgotten: it must be after the end of its window. */
const FORGOTTEN_AFTER = 2 * WINDOW
/** The part of a limit that a process may use before the others know of it. */
const UNSETTLED = 1 / 100
/** The part of a limit beyond which each event is counted together with the others at once. */
const CERTAIN = 3 / 4

interface Count {
  /** the events of all processes, as far as they are known */
  sum: number
  /** those of other processes that became known later than own ones */
  others: number
}

/**
 * Counts events in windows of one minute. An event is counted in this process, usually without a round trip. If there are shared
 * counters, the counts are exchanged with them in batches, so that all processes count together.
 */
export class WindowCounters {
  readonly #clock: Clock
  readonly #batches: CounterBatches | undefined
  /** the number of the window that is counted now, and its counts by name */
  #window = 0
  #counts = new Map<string, Count>()

  constructor(clock: Clock, shared?: SharedCounters) {
    this.#clock = clock
    this.#batches = shared && new CounterBatches(shared, '', FORGOTTEN_AFTER, (key, sum) => this.#takeOver(key, sum))
  }

  /** The seconds until the current window ends, at least 1. */
  get remainingSeconds(): number {
    return WINDOW - Math.floor((this.#clock() / 1000) % WINDOW)
  }

  /** Counts one event. @returns the number of events in this window */
  count(name: string, by = 1): number {
    const count = this.#countOf(name)
    this.#batches?.add(this.#keyOf(name), by)
    return (count.sum += by)
  }

  /**
   * Counts one event that is refused beyond a limit. It waits for the other processes if they know too little of this one, or if few events
   * remain: whoever chooses between processes by choosing connections has one limit. At most a hundredth of it is exceeded by each further process.
   * @returns the number of events in this window up to this one, those in other processes that came before it included
   */
  countWithin(limit: number, name: string, by = 1): Awaitable<number> {
    const place = this.count(name, by)
    if (this.#batches === undefined || place > limit) return place
    if (place <= limit * CERTAIN && this.#batches.unsettled(this.#keyOf(name)) <= limit * UNSETTLED) return place
    const count = this.#countOf(name)
    const { others } = count
    return this.#batches.send().then(() => place + count.others - others)
  }

  /** The number of events in this window. */
  read(name: string): number {
    return this.#currentCounts().get(name)?.sum ?? 0
  }

  /** Exchanges the counts with the shared counters now. */
  async settle(): Promise<void> {
    await this.#batches?.send()
  }

  /** The counts of the current window. Those of another one are forgotten all at once. */
  #currentCounts(): Map<string, Count> {
    const window = Math.floor(this.#clock() / 1000 / WINDOW)
    if (window !== this.#window) [this.#window, this.#counts] = [window, new Map()]
    return this.#counts
  }

  #countOf(name: string): Count {
    const counts = this.#currentCounts()
    let count = counts.get(name)
    if (count === undefined) counts.set(name, (count = { sum: 0, others: 0 }))
    return count
  }

  #takeOver(key: string, sum: number): void {
    this.#currentCounts()
    const name = key.slice(key.indexOf(':') + 1)
    // The sum may be that of a window that has ended.
    if (key !== this.#keyOf(name)) return
    const count = this.#countOf(name)
    const before = count.sum
    count.sum = sum + this.#batches!.unsent(key)
    count.others += count.sum - before
  }

  /** The key of a shared count. */
  #keyOf(name: string): string {
    return `${this.#window}:${name}`
  }
}
