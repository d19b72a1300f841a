import { durations } from '../model/durations.ts'
import { DAY, timestamp } from '../model/time.ts'
import type { Tombstone } from '../model/tombstone.ts'

/**
 * The tombstone of the entries that a partition gets on one day. It has the id that the day gives, so that every process writes the
 * same one. It is due after the day, and again when all entries of the day are too old.
 */
export function auditTombstone(now: number): Tombstone {
  const day = Math.floor(now / DAY)
  return {
    id: `tmb_0000000000000a0${String(day).padStart(5, '0')}`,
    kind: 'audit',
    target: 'self',
    not_before: timestamp(() => (day + 1) * DAY + durations.clockSkew),
  }
}
