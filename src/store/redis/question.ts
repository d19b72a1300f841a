import type { IndexRange } from '../port.ts'

/** What has to be asked to answer a read. */
export interface Question {
  /** the names of records in Redis */
  readonly names: readonly string[]
  /** index → the revision that it had; undefined: that is not known */
  readonly indexes: ReadonlyMap<string, string | null | undefined>
  /** ranges whose entries are not known */
  readonly ranges: readonly IndexRange[]
  /** how long the records of its ranges and of its expectation are, in characters */
  readonly length: number
  /** the revision of the partition that was known; undefined: none */
  readonly after: string | undefined
}

/** The answers to a question, in the order in which they were read. */
export interface Answers {
  /** the last commits of the partition, at the moment when the records were read */
  readonly first: string | null
  readonly records: readonly (string | null)[]
  readonly pages: readonly (readonly string[])[]
  /** of the indexes */
  readonly revisions: readonly (string | null)[]
  /** the last commits of the partition after all of this */
  readonly last: string | null
}
