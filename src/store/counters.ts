/** Counters that several processes share. A count may get lost: they are for rate limits, not for data. */
export interface SharedCounters {
  /**
   * Adds to a counter, which is forgotten some time after it was created.
   * @param seconds this time
   * @returns the sum; undefined if the counters cannot be reached
   */
  add(key: string, points: number, seconds: number): Promise<number | undefined>
  close(): Promise<void>
}

/** The time in milliseconds between two batches. */
const INTERVAL = 500

/** Sends what one process has counted to the shared counters, in batches. So counting costs no round trip. */
export class CounterBatches {
  readonly #counters: SharedCounters
  readonly #prefix: string
  readonly #seconds: number
  readonly #onSum: (key: string, sum: number, sent: number) => unknown
  #unsent = new Map<string, number>()
  /** the batch whose sums are not known yet */
  #sent: ReadonlyMap<string, number> = new Map()
  #sending: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /**
   * @param prefix of the shared counters' keys
   * @param seconds the time after which a counter is forgotten
   * @param onSum gets the sum of all processes, and how much of it this batch has added
   */
  constructor(counters: SharedCounters, prefix: string, seconds: number, onSum: (key: string, sum: number, sent: number) => unknown) {
    this.#counters = counters
    this.#prefix = prefix
    this.#seconds = seconds
    this.#onSum = onSum
  }

  /** Adds to the next batch. */
  add(key: string, points: number): void {
    this.#unsent.set(key, this.unsent(key) + points)
    this.#timer ??= setTimeout(() => void this.send(), INTERVAL).unref()
  }

  /** What was counted since the last batch. */
  unsent(key: string): number {
    return this.#unsent.get(key) ?? 0
  }

  /** What was counted, and may be unknown to the other processes. */
  unsettled(key: string): number {
    return this.unsent(key) + (this.#sent.get(key) ?? 0)
  }

  /**
   * Sends what was counted until now, after the batch that is on its way: the sums arrive in the order in which they were made. If the
   * counters cannot be reached, the batch is lost: this process counts alone meanwhile.
   */
  send(): Promise<void> {
    return (this.#next ??= this.#sending.then(() => (this.#sending = this.#sendBatch())))
  }

  async #sendBatch(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#next = undefined
    const batch = this.#unsent
    this.#sent = batch
    this.#unsent = new Map()
    await Promise.all(
      [...batch].map(async ([key, points]) => {
        const sum = points === 0 ? undefined : await this.#counters.add(this.#prefix + key, points, this.#seconds)
        if (sum !== undefined) await this.#onSum(key, sum, points)
      }),
    )
    this.#sent = new Map()
  }
}
