import type { Clock } from '../../model/time.ts'
import { Counters, type SharedCounters } from '../../store/counters.ts'

/** A token bucket: `burst` attempts at once, and then one attempt per `every` milliseconds. */
export interface Rate {
  readonly burst: number
  readonly every: number
}

/** Maximum number of keys that are remembered. */
const MAX_KEYS = 20_000

/**
 * Limits the rate of attempts for each key separately (a token bucket). The buckets are in the memory of this process, so
 * an attempt costs no round trip. With shared counters, the attempts in other processes are taken from the buckets a
 * moment later.
 */
export class Throttle {
  readonly #rate: Rate
  /** key → the milliseconds until its bucket is full again */
  readonly #counters: Counters

  /**
   * @param name of the throttle in the shared counters
   * @param shared default: this process throttles alone
   */
  constructor(rate: Rate, clock: Clock, name: string, shared?: SharedCounters) {
    this.#rate = rate
    const { burst, every } = rate
    this.#counters = new Counters({ clock, every, lifetime: burst * every, most: MAX_KEYS, shared, prefix: `${name}:` })
  }

  /**
   * Takes one attempt.
   * @returns 0 if the attempt is allowed, else the milliseconds until the next one is
   */
  take(key: string): number {
    const { burst, every } = this.#rate
    const wait = this.#counters.read(key) - (burst - 1) * every
    if (wait > 0) return wait
    this.#counters.add(key, 1)
    return 0
  }

  /** Refunds an attempt that does not count, such as a successful one. */
  refund(key: string): void {
    this.#counters.add(key, -1)
  }

  /** Exchanges the attempts with the other processes now. */
  settle(): Promise<void> {
    return this.#counters.settle()
  }
}
