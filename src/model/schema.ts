/**
 * The version of the records: the number of the last migration that was applied to them. The record of the partition `global`
 * is that of the whole storage. Another partition has one from its first migration on.
 */
export interface SchemaRecord {
  readonly version: number
  /** partitions that could not be read when the others were migrated, with their versions */
  readonly pending?: Readonly<Record<string, number>>
  /** the process that migrates the storage at present */
  readonly lease?: { readonly id: string; readonly until: string }
}
