import type { Change, Value } from './port.ts'

/** The digits of the number of an entry: more than a driver can count. */
const DIGITS = 16

/** The entry of an index to which records are appended. Entries are ordered as their numbers are. */
export function appendedEntry(number: number): string {
  return String(number).padStart(DIGITS, '0')
}

/**
 * The next entries of an index to which records are appended.
 * @param last its last entry; undefined: it is empty
 */
export function appendedEntries(last: string | undefined, count: number): string[] {
  return Array.from({ length: count }, (_, i) => appendedEntry(Number(last ?? 0) + 1 + i))
}

/**
 * Numbers the records that a change appends: the change then has them among those that it puts. The caller applies changes in the
 * order in which it numbers them.
 * @param lastOf the last entry of an index, with all changes that were numbered before
 */
export function numberAppended(change: Change, lastOf: (index: string) => string | undefined): Change {
  if (change.append === undefined || change.append.size === 0) return change
  const put = new Map<string, Value>(change.put)
  const indexes = new Map(change.indexes)
  for (const [index, { fetch, values }] of change.append) {
    const add = appendedEntries(lastOf(index), values.length)
    for (const [i, entry] of add.entries()) put.set(fetch + entry, values[i]!)
    indexes.set(index, { add, remove: [] })
  }
  return { ...change, put, indexes, append: undefined }
}
