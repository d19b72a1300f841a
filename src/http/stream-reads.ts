import type { StreamedResult } from '../resources/result.ts'

/** A read that has not ended. */
interface Running {
  /** by the monotonic clock in milliseconds */
  readonly since: number
  readonly found: Promise<StreamedResult | undefined>
}

/**
 * The streams of a process that are at the same place of the same feed read together what comes next: many streams on one board would
 * all read the same after each commit. Nothing outlives its read, and each stream is decided alone, after the read.
 */
export class StreamReads {
  readonly #running = new Map<string, Running>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Joins a read that is running, or begins one.
   * @param place the feed and the position in it
   * @param hintedAt when there was the last hint at something new: an earlier read may not have seen it
   * @returns undefined if it failed: the stream then reads alone, and meets the error in its turn
   */
  read(place: string, hintedAt: number, read: () => Promise<StreamedResult>): Promise<StreamedResult | undefined> {
    const running = this.#running.get(place)
    if (running !== undefined && running.since >= hintedAt) return running.found
    const since = this.#now()
    const found = read().catch(() => undefined)
    const own = { since, found }
    this.#running.set(place, own)
    void found.then(() => this.#running.get(place) === own && this.#running.delete(place))
    return found
  }
}
