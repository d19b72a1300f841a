import { setTimeout as after } from 'node:timers/promises'
import type { RandomSource } from '../model/ids.ts'
import { StorageUnavailable, type Store } from './port.ts'
import { TransactionConflict, Transaction } from './transaction.ts'

const MAX_ATTEMPTS = 50

/**
 * Does a piece of work in one unit, and again from its beginning where others changed what it read.
 * @param work reads and writes; it must have no effect but through the transaction
 * @returns what the work returned, once it is committed
 * @throws {StorageUnavailable} where it could not be done for all the others
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
  throw new StorageUnavailable('others kept changing what this work is about')
}

/** Waits before trying again: longer each time, and never two for equally long. */
export async function backOff(attempt: number): Promise<void> {
  await after(Math.random() * 2 ** Math.min(attempt, 6))
}
