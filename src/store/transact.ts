import { setTimeout as delay } from 'node:timers/promises'
import type { RandomSource } from '../model/ids.ts'
import type { Deps } from './deps.ts'
import type { Index } from './indexes.ts'
import { StorageUnavailable, type Store } from './port.ts'
import { TransactionConflict, Transaction } from './transaction.ts'

const MAX_ATTEMPTS = 50

/**
 * Runs work in a transaction and commits it. When another commit conflicts with it, the work runs again in a new
 * transaction.
 * @param work reads and writes; it must have no effects outside the transaction
 * @returns the result of the work, after the commit
 * @throws {StorageUnavailable} when storage fails, or when 50 attempts have ended in a conflict
 */
export async function transact<T>(
  store: Store,
  partition: string,
  random: RandomSource,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      const tx = new Transaction(store, partition, random)
      const result = await work(tx)
      await tx.commit()
      return result
    } catch (error) {
      if (!(error instanceof TransactionConflict)) throw error
      await backOff(attempt)
    }
  }
  throw new StorageUnavailable(`the transaction conflicted with others ${MAX_ATTEMPTS} times`)
}

/** Waits before the next attempt: a random time that grows with the attempts, up to 64 ms. */
export async function backOff(attempt: number): Promise<void> {
  await delay(Math.random() * 2 ** Math.min(attempt, 6))
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
