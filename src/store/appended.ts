import type { Appended, Change, Value } from './port.ts'

/** The digits of the number of an entry: more than a driver can count. */
const DIGITS = 16

/** An entry of an index that records are appended to. Entries are ordered like their numbers. */
export function appendedEntry(number: number): string {
  return String(number).padStart(DIGITS, '0')
}

/** The entries of records that are appended to an index, in the order of the records. */
export function appendedEntries({ values }: Appended, last: string | undefined): string[] {
  let number = Number(last ?? 0)
  return values.map(() => appendedEntry(++number))
}

const ENDS_WITH_NUMBER = new RegExp(`\\d{${DIGITS}}$`)

/** Whether a record with this key may be one that a change has appended: its key ends with the number of an entry. */
export function mayBeAppended(key: string): boolean {
  return ENDS_WITH_NUMBER.test(key)
}

/**
 * Numbers the records that a change appends: the change then has them among those that it puts. The caller applies changes in the
 * order in which it numbers them.
 * @param lastOf the last entry of an index, with all changes that were numbered before
 */
export function numberAppended(change: Change, lastOf: (index: string) => string | undefined): Change {
  if (change.append === undefined) return change
  const put = new Map<string, Value>(change.put)
  const indexes = new Map(change.indexes)
  for (const [index, appended] of change.append) {
    const add = appendedEntries(appended, lastOf(index))
    for (const [i, entry] of add.entries()) put.set(appended.fetch + entry, appended.values[i]!)
    indexes.set(index, { add, remove: [] })
  }
  const { revision, lease, expect, onlyRemoves, remove } = change
  // Written out: V8 takes microseconds to spread a change into another.
  return { revision, lease, expect, onlyRemoves, put, remove, indexes, append: undefined }
}
