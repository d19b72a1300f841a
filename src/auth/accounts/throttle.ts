import type { Clock } from '../../model/time.ts'

/** A token bucket: `burst` attempts at once, and then one attempt per `every` milliseconds. */
export interface Rate {
  readonly burst: number
  readonly every: number
}

/** Maximum number of keys that are remembered. When it is exceeded, the key that was idle longest is forgotten. */
const MAX_KEYS = 20_000

/**
 * Limits the rate of attempts for each key separately (a token bucket). The buckets are in the memory of this process, so
 * nothing that a stranger sends is written to storage.
 */
export class Throttle {
  readonly #rate: Rate
  readonly #clock: Clock
  /** key → the time at which its bucket is full again, in milliseconds since 1970 */
  readonly #fullAt = new Map<string, number>()

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate
    this.#clock = clock
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
    return 0
  }

  /** Refunds an attempt that does not count, such as a successful one. */
  refund(key: string): void {
    const fullAt = (this.#fullAt.get(key) ?? 0) - this.#rate.every
    if (fullAt > this.#clock()) this.#fullAt.set(key, fullAt)
    else this.#fullAt.delete(key)
  }
}
