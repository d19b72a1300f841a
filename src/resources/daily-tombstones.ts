import { LRUCache } from 'lru-cache'
import { durations } from '../model/durations.ts'
import { DAY, timestamp } from '../model/time.ts'
import type { CommittingTransaction } from '../store/derivation.ts'
import { keys } from '../store/keys.ts'

/** How many targets a process remembers. */
const REMEMBERED = 10_000

/** See to it that what is appended to a list is removed when it is too old: one tombstone for each list and day. */
export class DailyTombstones {
  readonly #kind: 'changes' | 'notices'
  // Those that this process has written.
  readonly #scheduled = new LRUCache<string, true>({ maxSize: REMEMBERED, sizeCalculation: () => 1 })

  constructor(kind: 'changes' | 'notices') {
    this.#kind = kind
  }

  /**
   * Writes the tombstone of today, unless this process has.
   * @param target a board, or a user
   */
  schedule(tx: CommittingTransaction, target: string, now: number): void {
    const day = Math.floor(now / DAY)
    const id = idOf(target, day)
    if (this.#scheduled.has(id)) return
    // It is always the same, so it needs no read, and may be written again.
    const not_before = timestamp(() => (day + 1) * DAY + durations.clockSkew)
    tx.putUnread(keys.tombstone(id), { id, kind: this.#kind, target, not_before })
    tx.whenCommitted(() => this.#scheduled.set(id, true))
  }
}

/** The id has a part of the target's, and the day. */
function idOf(target: string, day: number): string {
  return `tmb_${target.slice(target.indexOf('_') + 1).slice(0, 14)}0${String(day).padStart(5, '0')}`
}

/** The id of the tombstone that follows the one of a day, when that was due. */
export function secondTombstoneId(first: string): string {
  return `${first.slice(0, -6)}1${first.slice(-5)}`
}
