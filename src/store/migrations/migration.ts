import type { Value } from '../port.ts'
import type { Transaction } from '../transaction.ts'

/** A record with its key. */
export type Entry = readonly [key: string, value: Value]

/**
 * A change of the shape of stored records. It is a pure function of one record, so it can be applied in batches, stopped and
 * repeated, and applied to an export. Indexes are rebuilt after it.
 */
export interface Migration {
  /** counts from 1, without gaps; the version of the records that it leads to */
  readonly number: number
  /** what it does, as the log shows it */
  readonly summary: string
  /** why it is needed */
  readonly reason: string
  /**
   * Must return a record of the new shape unchanged: a migration that was interrupted is applied again.
   * @returns what replaces the record
   */
  migrate(key: string, value: Value): readonly Entry[]
  /** what it changes afterwards, because it depends on other records */
  readonly completion?: Completion
}

/**
 * The second part of a migration. It begins when all records of a partition have their new shape, and their indexes. It is applied in
 * batches, and can be stopped and repeated.
 */
export interface Completion {
  /** the first word of the keys of the records that it may change, with the colon */
  readonly prefix: string
  /**
   * Changes records.
   * @param batch their keys
   * @param unwritten records of an import that are written later, by their keys
   * @returns how many it has changed
   */
  complete(tx: Transaction, batch: readonly string[], unwritten: ReadonlyMap<string, Value>): Promise<number>
}
