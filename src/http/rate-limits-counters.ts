import type { Clock } from '../model/time.ts'
import { CounterBatches, type SharedCounters } from '../store/counters.ts'

/** The length of a window in seconds. */
export const WINDOW = 60
/** The time in seconds after which a shared count is forgotten: it must be after the end of its window. */
const FORGOTTEN_AFTER = 2 * WINDOW

/**
 * Counts events in windows of one minute. An event is counted in this process, without a round trip. If there are shared
 * counters, the counts are exchanged with them in batches, so that all processes count together.
 */
export class WindowCounters {
  readonly #clock: Clock
  readonly #batches: CounterBatches | undefined
  /** the number of the window that is counted now, and its counts by name */
  #window = 0
  #counts = new Map<string, { sum: number }>()

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
    const counts = this.#currentCounts()
    let count = counts.get(name)
    if (count === undefined) counts.set(name, (count = { sum: 0 }))
    this.#batches?.add(this.#keyOf(name), by)
    return (count.sum += by)
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
  #currentCounts(): Map<string, { sum: number }> {
    const window = Math.floor(this.#clock() / 1000 / WINDOW)
    if (window !== this.#window) [this.#window, this.#counts] = [window, new Map()]
    return this.#counts
  }

  #takeOver(key: string, sum: number): void {
    const counts = this.#currentCounts()
    const name = key.slice(key.indexOf(':') + 1)
    // The sum may be that of a window that has ended.
    if (key === this.#keyOf(name)) counts.set(name, { sum: sum + this.#batches!.unsent(key) })
  }

  /** The key of a shared count. */
  #keyOf(name: string): string {
    return `${this.#window}:${name}`
  }
}
