import { conflict } from '../model/errors.ts'
import type { Index } from '../store/indexes.ts'
import type { Transaction } from '../store/transaction.ts'

/**
 * Makes sure that there is room for one more, at the commit too.
 * @throws {Failure} `conflict`, naming the limit
 */
export async function requireCapacity(tx: Transaction, index: Index<unknown>, limit: number, message: string): Promise<void> {
  if ((await tx.count(index, limit - 1)) >= limit) throw conflict(message, { limit })
}
