import type { Clock } from '../../model/time.ts'

/** How much is let through: `burst` at once, and then one each `every` milliseconds. */
export interface Rate {
  readonly burst: number
  readonly every: number
}

/** More names than this are not remembered; those that were quiet longest are forgotten first. */
const REMEMBERED = 20_000

/**
 * Lets through so much and no more, for each name apart (a token bucket). It is this process's own: nothing that
 * a stranger sends is stored.
 */
export class Throttle {
  readonly #rate: Rate
  readonly #clock: Clock
  /** name → the time at which it is as if nothing had ever come */
  readonly #free = new Map<string, number>()

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate
    this.#clock = clock
  }

  /**
   * Takes one for a name.
   * @returns 0 where it is let through, else in how many milliseconds one will be
   */
  take(name: string): number {
    const now = this.#clock()
    const { burst, every } = this.#rate
    // More than this nobody can have taken: a clock that was set back must not lock anyone out.
    const free = Math.min(Math.max(now, this.#free.get(name) ?? -Infinity), now + burst * every)
    const wait = free - now - (burst - 1) * every
    if (wait > 0) return wait
    this.#free.delete(name)
    if (this.#free.size >= REMEMBERED) this.#free.delete(this.#free.keys().next().value!)
    this.#free.set(name, free + every)
    return 0
  }

  /** Gives one back: it turned out to be none that counts. */
  giveBack(name: string): void {
    const free = (this.#free.get(name) ?? 0) - this.#rate.every
    if (free > this.#clock()) this.#free.set(name, free)
    else this.#free.delete(name)
  }
}
