import { setTimeout as delay } from 'node:timers/promises'
import { orElse, type Awaitable } from '../model/awaitable.ts'
import type { SessionLifetimes } from '../model/durations.ts'
import type { RandomSource } from '../model/ids.ts'
import type { Index } from './indexes.ts'
import { Contention, type Store } from './port.ts'
import { TransactionConflict, Transaction } from './transaction.ts'
import type { CommitLease } from './commit-leases.ts'
import type { Clock } from '../model/time.ts'

/** The store, the clock and the source of randomness that a unit of work runs with. */
export interface Deps {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  /** the number of records that one commit of a cascade may change; the tests use small ones */
  readonly batch?: number | undefined
  /** how long sessions of the web app last; default: seven days unused, 30 in any case */
  readonly sessions?: SessionLifetimes | undefined
}

const MAX_ATTEMPTS = 50
/** After this many conflicts, each further attempt has a lease (see {@link Store.takeLease}). */
const CONFLICTS_BEFORE_LEASE = 3

/**
 * Runs work in a transaction and commits it. When another commit conflicts with it, the work runs again in a new
 * transaction.
 * @param work reads and writes; it must have no effects outside the transaction
 * @returns the result of the work, after the commit
 * @throws {StorageUnavailable} when storage fails
 * @throws {Contention} when 50 attempts have ended in a conflict
 */
export async function transact<T>(
  store: Store,
  partition: string,
  random: RandomSource,
  work: (tx: Transaction) => Awaitable<T>,
): Promise<T> {
  return retryConflicts(store, partition, MAX_ATTEMPTS, async (lease) => {
    const tx = new Transaction(store, partition, random, lease?.id)
    const result = await work(tx)
    await tx.commit()
    return result
  })
}

/**
 * Attempts something until no concurrent write conflicts with it. After three conflicts, the attempts have leases, so
 * that no client can make it fail by writing often.
 * @param attempt gets its lease, which it must not hold while it waits for a client
 * @throws {Contention} when the last attempt has ended in a conflict too
 */
export function retryConflicts<T>(
  store: Store,
  partition: string,
  maxAttempts: number,
  attempt: (lease: CommitLease | undefined) => Awaitable<T>,
): Awaitable<T> {
  return orElse(
    () => attempt(undefined),
    (error) => {
      if (!(error instanceof TransactionConflict)) throw error
      return attemptAgain(store, partition, maxAttempts, attempt)
    },
  )
}

/** The attempts after the first one. */
async function attemptAgain<T>(
  store: Store,
  partition: string,
  maxAttempts: number,
  attempt: (lease: CommitLease | undefined) => Awaitable<T>,
): Promise<T> {
  for (let conflicts = 1; conflicts < maxAttempts; conflicts++) {
    const lease = conflicts < CONFLICTS_BEFORE_LEASE ? await backOff(conflicts) : await store.takeLease(partition)
    try {
      return await attempt(lease)
    } catch (error) {
      if (!(error instanceof TransactionConflict)) throw error
    } finally {
      lease?.end()
    }
  }
  throw new Contention()
}

/** Waits before the next attempt: a random time that grows with the attempts. */
async function backOff(attempt: number): Promise<undefined> {
  await delay(Math.random() * 2 ** attempt)
}

/**
 * Reads all records of an index. The pages may come from different states of the partition. Entries without a
 * record are left out.
 * @throws {StorageUnavailable}
 */
export async function listAll<T>({ store, random }: Pick<Deps, 'store' | 'random'>, partition: string, index: Index<T>): Promise<T[]> {
  const { values } = await transact(store, partition, random, (tx) => tx.all(index, { weak: true }))
  return values.filter((value) => value !== undefined)
}
