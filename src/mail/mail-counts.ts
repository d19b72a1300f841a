import { LRUCache } from 'lru-cache'
import { sha256Hex } from '../auth/secrets.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { Clock } from '../model/time.ts'
import type { SharedCounters } from '../store/counters.ts'

/** Maximum number of counts that a process remembers. */
const MAX_COUNTS = 20_000

/** Counts mails, for some time after the first. */
export class MailCounts {
  readonly #clock: Clock
  readonly #counters: SharedCounters | undefined
  /** what this process counts, where there are no shared counters or they cannot be reached */
  readonly #counts = new LRUCache<string, { count: number; readonly until: number }>({ max: MAX_COUNTS })

  /** @param counters shared by all processes that count together; undefined: this process counts alone */
  constructor(clock: Clock, counters: SharedCounters | undefined) {
    this.#clock = clock
    this.#counters = counters
  }

  /** Counts one more. @returns how many there are */
  add(what: string, seconds: number): Awaitable<number> {
    const key = `mail:${sha256Hex(what)}`
    if (this.#counters === undefined) return this.#addAlone(key, seconds)
    return this.#counters.add(key, 1, seconds).then((sum) => sum ?? this.#addAlone(key, seconds))
  }

  #addAlone(key: string, seconds: number): number {
    const now = this.#clock()
    const known = this.#counts.get(key)
    const current = known !== undefined && now < known.until ? known : { count: 0, until: now + seconds * 1000 }
    this.#counts.set(key, current)
    return ++current.count
  }
}
