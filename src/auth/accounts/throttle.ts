import type { Clock } from '../../model/time.ts'
import { CounterBatches, type SharedCounters } from '../../store/counters.ts'

/** A token bucket: `burst` attempts at once, and then one attempt per `every` milliseconds. */
export interface Rate {
  readonly burst: number
  readonly every: number
}

/** Maximum number of keys that are remembered. When it is exceeded, the key that was idle longest is forgotten. */
const MAX_KEYS = 20_000

/** The counters with which the throttles of several processes work as one. */
export interface SharedThrottle {
  readonly counters: SharedCounters
  /** the name of the throttle in the counters */
  readonly name: string
}

/**
 * Limits the rate of attempts for each key separately (a token bucket). The buckets are in the memory of this process, so
 * an attempt costs no round trip. With shared counters, the attempts in other processes are taken from the buckets a
 * moment later.
 */
export class Throttle {
  readonly #rate: Rate
  readonly #clock: Clock
  /** key → the time at which its bucket is full again, in milliseconds since 1970 */
  readonly #fullAt = new Map<string, number>()
  readonly #batches: CounterBatches | undefined
  /** key → the attempts in all processes, as far as this one has taken them from its bucket */
  readonly #taken = new Map<string, number>()

  constructor(rate: Rate, clock: Clock, shared?: SharedThrottle) {
    this.#rate = rate
    this.#clock = clock
    // An empty bucket is full again after this time, so attempts that are older count for nothing.
    const seconds = Math.ceil((rate.burst * rate.every) / 1000)
    const onSum = (key: string, sum: number, sent: number) => this.#takeOthers(key, sum, sent)
    this.#batches = shared && new CounterBatches(shared.counters, `${shared.name}:`, seconds, onSum)
  }

  /**
   * Takes one attempt.
   * @returns 0 if the attempt is allowed, else the milliseconds until the next one is
   */
  take(key: string): number {
    const now = this.#clock()
    const { burst, every } = this.#rate
    // If the clock was set back, the stored time may be far ahead. An empty bucket is full again after `burst * every`.
    const fullAt = Math.min(Math.max(now, this.#fullAt.get(key) ?? -Infinity), now + burst * every)
    const wait = fullAt - now - (burst - 1) * every
    if (wait > 0) return wait
    this.#fullAt.delete(key)
    if (this.#fullAt.size >= MAX_KEYS) this.#fullAt.delete(this.#fullAt.keys().next().value!)
    this.#fullAt.set(key, fullAt + every)
    this.#batches?.add(key, 1)
    return 0
  }

  /** Refunds an attempt that does not count, such as a successful one. */
  refund(key: string): void {
    this.#batches?.add(key, -1)
    const fullAt = (this.#fullAt.get(key) ?? 0) - this.#rate.every
    if (fullAt > this.#clock()) this.#fullAt.set(key, fullAt)
    else this.#fullAt.delete(key)
  }

  /** Exchanges the attempts with the other processes now. */
  async settle(): Promise<void> {
    await this.#batches?.send()
  }

  /** @param sum the attempts in all processes, of which `sent` were in this one since the last exchange */
  #takeOthers(key: string, sum: number, sent: number): void {
    // A smaller sum is that of a new counter: the old one was forgotten.
    const before = this.#taken.get(key) ?? 0
    const others = sum - sent < before ? sum - sent : sum - sent - before
    this.#taken.delete(key)
    if (this.#taken.size >= MAX_KEYS) this.#taken.delete(this.#taken.keys().next().value!)
    this.#taken.set(key, sum)
    if (others <= 0) return
    const now = this.#clock()
    const { burst, every } = this.#rate
    const fullAt = Math.max(now, this.#fullAt.get(key) ?? 0)
    if (this.#fullAt.has(key) || this.#fullAt.size < MAX_KEYS) this.#fullAt.set(key, Math.min(fullAt + others * every, now + burst * every))
  }
}
