import { andThen, type Awaitable } from '../model/awaitable.ts'
import { keys, type Key } from './keys.ts'
import type { Store } from './port.ts'

/** The part of a transaction that is needed here. */
interface Work {
  get<T>(key: Key<T>): Awaitable<T | undefined>
  put<T>(key: Key<T>, value: T): void
}

/**
 * Counts the bytes of the files of a workspace. Each transaction does this before its commit, so that whoever creates or removes a file
 * counts it in the same commit: uploads, garbage collection, imports and restores.
 * @param gained the bytes of the files that the transaction creates, less the bytes of the files that it removes
 */
export function countFileBytes(tx: Work, gained: number): Awaitable<void> {
  if (gained === 0) return undefined
  return andThen(tx.get(keys.fileBytes()), (present) => {
    tx.put(keys.fileBytes(), { bytes: Math.max(0, (present?.bytes ?? 0) + gained) })
  })
}

/** The size of a file; 0 if it is absent, or if a record is no file. */
export function sizeOfFile(key: string, value: Readonly<Record<string, unknown>> | undefined): number {
  return key.startsWith('file:') && value !== undefined ? Number(value['size']) : 0
}

/** The bytes of all files of a partition that nobody else writes to meanwhile, from their records. */
export async function sumOfFiles(store: Store, partition: string): Promise<number> {
  let sum = 0
  for await (const batch of store.scan(partition)) for (const [key, stored] of batch) sum += sizeOfFile(key, stored?.value)
  return sum
}
