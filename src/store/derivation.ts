import type { Awaitable } from '../model/awaitable.ts'
import type { Board, BoardMember } from '../model/board.ts'
import type { ChangeRecord } from '../model/change.ts'
import type { Clock } from '../model/time.ts'
import type { Membership } from '../model/workspace.ts'
import type { Index } from './indexes.ts'
import type { Key } from './keys.ts'

/** Who makes the changes of a transaction. */
export type Author = Pick<ChangeRecord, 'actor_id' | 'token_id' | 'token_name' | 'request_id'>
/** The service itself, or its operator. */
export const SERVICE: Author = { actor_id: null, token_id: null, token_name: null, request_id: null }

/** What becomes of the notices that the changes of a transaction cause. */
export interface Notifying {
  /** Whether a person may read a board, as the policy decides; without a board: whether they may read their notices. */
  mayRead(board: Board | undefined, membership: Membership, boardMember: BoardMember | undefined): boolean
  /** what causes notices other than the written records: time */
  byTime: readonly object[]
  /** how many notices the transaction causes */
  notices: number
}

/**
 * Adds to a transaction what follows from its writes, as the first part of its commit. Every commit of a store calls all
 * derivations of the store in order, so no writer can forget one.
 * @param written the keys of the records that the transaction wrote and removed before the first derivation
 */
export type Derivation = (tx: CommittingTransaction, written: readonly string[]) => Awaitable<void>

/** The part of a transaction that a derivation uses. */
export interface CommittingTransaction {
  /** whose changes the change feeds show, and when; undefined: they show none of this transaction */
  readonly logged: { readonly author: Author; readonly clock: Clock } | undefined
  /** undefined: nobody gets a notice of this transaction */
  readonly notifying: Notifying | undefined
  /** the id of the operation that wrote a record; null: no request did */
  operationOf(key: string): string | null
  get<T>(key: Key<T>): Awaitable<T | undefined>
  read(records: readonly Key<unknown>[]): Awaitable<unknown>
  prefetch(request: { readonly counts: readonly Index<unknown>[] }): Awaitable<unknown>
  count(index: Index<unknown>, limit: number): Awaitable<number>
  range(
    index: Index<unknown>,
    options: { readonly limit: number; readonly reverse: true; readonly weak: true; readonly entriesOnly: true },
  ): Awaitable<{ readonly entries: readonly string[] }>
  all(index: Index<unknown>, options: { readonly entriesOnly: boolean }): Promise<{ readonly entries: readonly string[] }>
  /** a record that was read, as it is stored */
  before<T>(key: Key<T>): T | undefined
  /** a record that was read, as the transaction leaves it */
  known<T>(key: Key<T>): T | undefined
  isWritten(key: Key<unknown>): boolean
  /** whether the transaction has made the id of the record, so that no other stored record can name it */
  isCreated(key: Key<unknown>): boolean
  put<T>(key: Key<T>, value: T): void
  /** writes a record without a read: whoever else writes it writes the same value */
  putUnread<T>(key: Key<T>, value: T): void
  remove(key: Key<unknown>): void
  /** adds a record to the end of an index that has only such records */
  append<T>(index: Index<T>, value: T): void
  /** calls a function when the commit has succeeded */
  whenCommitted(done: () => void): void
}
