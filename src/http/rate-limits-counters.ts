import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Clock } from '../model/time.ts'
import { CounterBatches, type SharedCounters } from '../store/counters.ts'

/** The length of a window in seconds. */
export const WINDOW = 60
/** The time in seconds after which a count is forgotten: it must be after the end of its window. */
const FORGOTTEN_AFTER = 2 * WINDOW

/**
 * Counts events in windows of one minute. An event is counted in this process, without a round trip. If there are shared
 * counters, the counts are exchanged with them in batches, so that all processes count together.
 */
export class WindowCounters {
  readonly #clock: Clock
  // Only its counts are used. The quotas are compared elsewhere.
  readonly #local = new RateLimiterMemory({ points: 0, duration: FORGOTTEN_AFTER, keyPrefix: '' })
  readonly #batches: CounterBatches | undefined

  constructor(clock: Clock, shared?: SharedCounters) {
    this.#clock = clock
    this.#batches = shared && new CounterBatches(shared, '', FORGOTTEN_AFTER, (key, sum) => this.#takeOver(key, sum))
  }

  /** The seconds until the current window ends, at least 1. */
  get remainingSeconds(): number {
    return WINDOW - Math.floor((this.#clock() / 1000) % WINDOW)
  }

  /** Counts one event. @returns the number of events in this window */
  async count(name: string): Promise<number> {
    const key = this.#keyOf(name)
    this.#batches?.add(key, 1)
    return (await this.#local.penalty(key)).consumedPoints
  }

  /** The number of events in this window. */
  async read(name: string): Promise<number> {
    return (await this.#local.get(this.#keyOf(name)))?.consumedPoints ?? 0
  }

  /** Exchanges the counts with the shared counters now. */
  async settle(): Promise<void> {
    await this.#batches?.send()
  }

  async #takeOver(key: string, sum: number): Promise<void> {
    await this.#local.set(key, sum + this.#batches!.unsent(key), FORGOTTEN_AFTER)
  }

  #keyOf(name: string): string {
    return `${Math.floor(this.#clock() / 1000 / WINDOW)}:${name}`
  }
}
