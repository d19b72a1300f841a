import type { Index } from './indexes.ts'
import type { IndexRange, Template } from './port.ts'
import type { Key } from './keys.ts'
import { Member, Reference } from './references.ts'

/** Which range of an index to read. */
export interface RangeOptions {
  /** exclusive bounds; they do not have to be entries */
  readonly after?: string | undefined
  readonly before?: string | undefined
  /** descending order; `limit` then counts from the upper bound */
  readonly reverse?: boolean
  /** maximum number of entries */
  readonly limit: number
  /**
   * A weak read may be stale by the next read or the commit. All other reads are validated then.
   * `true`: neither the entries nor their records are validated. `'records'`: the entries are validated, their
   * records are not.
   */
  readonly weak?: boolean | 'records'
  /** reads no records: the page has no values */
  readonly entriesOnly?: boolean
  /** the page may end early if records are long, with `isCut`. The first range of a read has one entry at least, unless it is empty. */
  readonly partial?: boolean
}

/** Entries of an index with their records. */
export interface IndexPage<T> {
  readonly entries: readonly string[]
  /** undefined for an entry without a record: its parent was deleted, and garbage collection has not removed the entry yet */
  readonly values: readonly (T | undefined)[]
  /** with `partial`: whether the page has ended early */
  readonly isCut?: boolean
}

/**
 * A record that a transaction relies on for some members only. A concurrent change of other members does not conflict
 * with it. The members must be texts.
 */
export interface Part<T> {
  readonly key: Key<unknown> | Reference<unknown>
  readonly members: readonly string[]
  readonly '~record'?: T
}
type TextMember<T> = { [M in keyof T]: T[M] extends string ? M : never }[keyof T] & string

/** Reads a record for some of its members, such as those that decide who has access to it. */
export function partOf<T, const M extends TextMember<T>>(key: Key<T> | Reference<T>, ...members: M[]): Part<Pick<T, M>> {
  return { key, members }
}

/** What a read names, with the type of the record: a whole record, or some members of it. */
export type ReadOf<T> = Key<T> | Reference<T> | Part<T>
export type Read = ReadOf<unknown>

type NamingMember<T> = { [M in keyof T]-?: T[M] extends string | null | undefined ? M : never }[keyof T] & string

/**
 * A member of a record, as a part of the key of another record that comes after it in the same read:
 * `[card, keys.board(memberOf(card, 'board_id'))]`. If the record is absent, or has no such text, there is no other record.
 */
export function memberOf<T, const M extends NamingMember<T>>(read: ReadOf<T>, member: M): Member {
  return new Member(keyOf(read), member)
}

function keyOf(read: Read): string | Reference<unknown> {
  return typeof read === 'string' || read instanceof Reference ? read : read.key
}

/**
 * What storage reads: the keys, and templates in place of references.
 * @throws {TypeError} if a reference is to a record that is not read before it
 */
export function toTemplates(reads: readonly Read[]): readonly Template[] {
  return reads.map((read, i) => {
    const key = keyOf(read)
    if (typeof key === 'string') return key
    return key.parts.map((part) => (typeof part === 'string' ? part : { index: indexBefore(i, reads, part), member: part.name }))
  })
}

function indexBefore(end: number, reads: readonly Read[], { source }: Member): number {
  for (let index = end - 1; index >= 0; index--) if (keyOf(reads[index]!) === source) return index
  throw new TypeError('store: a reference must come after the record that it is made from')
}

/** What to read in one snapshot. */
export interface LoadRequest<
  Reads extends readonly Read[] = readonly Read[],
  Ranges extends readonly RangeRequest[] = readonly RangeRequest[],
> {
  readonly records?: Reads
  readonly ranges?: Ranges
}

/** A range of an index. */
export interface RangeRequest {
  readonly index: Index<unknown>
  readonly options: RangeOptions
}

/** What to prefetch. */
export interface PrefetchRequest extends LoadRequest {
  /** indexes to count */
  readonly counts?: readonly Index<unknown>[] | undefined
}

/** The record type of a key, reference or part. */
export type ValueOf<K> = K extends { readonly '~record'?: infer T } ? T | undefined : never
/** The page type of a range. */
export type PageOf<R> = R extends { index: Index<infer T> } ? IndexPage<T> : never

/** A text that two ranges share only if they are equal. */
export function nameOf({ index, options }: RangeRequest): string {
  const { after, before, reverse = false, limit, weak = false, entriesOnly = false, partial = false } = options
  return `${index.name} ${limit} ${reverse} ${weak} ${entriesOnly} ${partial}\n${after ?? ''}\n${before ?? ''}`
}

/** A range as a driver gets it. */
export function toIndexRange(
  index: Index<unknown>,
  { after, before, reverse = false, limit, entriesOnly, partial }: RangeOptions,
): IndexRange {
  const range: { -readonly [M in keyof IndexRange]: IndexRange[M] } = { index: index.name, after, before, reverse, limit }
  if (partial === true) range.partial = true
  if (entriesOnly !== true) range.fetch = index.fetch
  return range
}

/** Entries per page of a read of a whole index. */
export const PAGE_SIZE = 1000

/** The first range of a read of a whole index, to prefetch it. */
export function firstPage<T>(index: Index<T>, options: Pick<RangeOptions, 'weak' | 'entriesOnly'> = {}) {
  return { index, options: { ...options, limit: PAGE_SIZE } }
}
