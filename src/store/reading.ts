import type { Index } from './indexes.ts'
import type { Key } from './keys.ts'

/** Which part of an index to read. */
export interface RangeOptions {
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly reverse?: boolean
  readonly limit: number
  /**
   * A hint may be stale by the time of the next read or the commit; nothing else may. True: all of it is one.
   * 'records': which entries there are is relied on, what their records say is not.
   */
  readonly weak?: boolean | 'records'
}

/** Entries of an index with their records. */
export interface Page<T> {
  readonly entries: readonly string[]
  /** undefined where the record of an entry is gone: what it hung on was deleted, and the sweep has not come yet */
  readonly values: readonly (T | undefined)[]
}

/** What to read in one snapshot. */
export interface Wanted<Keys extends readonly Key<unknown>[], Indexes extends readonly { index: Index<unknown>; options: RangeOptions }[]> {
  readonly records?: Keys
  readonly ranges?: Indexes
}
/** The record that a key leads to. */
export type ValueOf<K> = K extends Key<infer T> ? T | undefined : never
/** What a part of an index leads to. */
export type PageOf<R> = R extends { index: Index<infer T> } ? Page<T> : never
