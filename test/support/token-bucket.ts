/** Token buckets by key, as they are defined: `burst` at once, and then one in `every` milliseconds. */
export class TokenBuckets {
  readonly #burst: number
  readonly #every: number
  /** when the bucket of a key is full again */
  readonly #fullAt = new Map<string, number>()

  constructor(burst: number, every: number) {
    this.#burst = burst
    this.#every = every
  }

  /** The milliseconds until one can be taken. */
  waitOf(key: string, now: number): number {
    return Math.max(0, this.#fullFrom(key, now) - (this.#burst - 1) * this.#every - now)
  }

  /** @param count a negative number puts back */
  take(key: string, now: number, count = 1): void {
    this.#fullAt.set(key, this.#fullFrom(key, now) + count * this.#every)
  }

  #fullFrom(key: string, now: number): number {
    return Math.max(this.#fullAt.get(key) ?? now, now)
  }
}
