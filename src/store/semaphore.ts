/** Limits how many hold a permit at the same time. The others wait, in the order in which they asked. */
export class Semaphore {
  #permits: number
  readonly #waiting: (() => void)[] = []

  constructor(permits: number) {
    this.#permits = permits
  }

  /** how many wait for a permit */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Waits for a permit and takes it. */
  async acquire(): Promise<void> {
    if (this.#permits > 0) this.#permits--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Gives up a permit, to the first of those who wait. */
  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#permits++
    else next()
  }
}
