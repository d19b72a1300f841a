/** Limits how many of those who ask for a slot have one at the same time. The others wait, in the order in which they asked. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** how many wait for a slot */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Waits for a slot and takes it. */
  async take(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Gives up a slot, to the first of those who wait. */
  free(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
