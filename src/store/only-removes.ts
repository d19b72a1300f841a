import type { Stored, Value } from './port.ts'

/** Members with the time at which something ended or was changed. */
const TIMES = new Set(['revoked_at', 'ended_at', 'updated_at'])

/**
 * Whether a change only revokes or removes. It may write tombstones and pending removals. Of other records, it may only empty members, take
 * items out of lists, and note when something ended.
 * @param before the records as they were read
 */
export function onlyRemoves(before: ReadonlyMap<string, Stored | null>, put: ReadonlyMap<string, Value>): boolean {
  for (const [key, value] of put) {
    if (key.startsWith('tombstone:') || key.startsWith('removals:')) continue
    const old = before.get(key)?.value
    if (old === undefined || !isRemovedFrom(old, value)) return false
  }
  return true
}

function isRemovedFrom(before: Value, after: Value): boolean {
  return Object.entries(after).every(([name, value]) => {
    const old = before[name]
    if (value === old || value === null || TIMES.has(name)) return true
    return Array.isArray(value) && Array.isArray(old) && value.every((item) => old.includes(item))
  })
}
