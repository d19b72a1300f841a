import type { Value } from '../port.ts'

/** A record with its key. */
export type Entry = readonly [key: string, value: Value]

/**
 * A change of the shape of stored records. It is a pure function of one record, so it can be applied in batches, stopped and
 * repeated, and applied to an export. Indexes are rebuilt after it.
 */
export interface Migration {
  /** the version of the records that it leads to: one more than the previous migration's */
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
}
