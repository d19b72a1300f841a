import type { RandomSource } from '../model/ids.ts'
import type { Index } from './indexes.ts'
import type { Store } from './port.ts'
import { transact } from './transact.ts'

const PAGE = 500

/** All records that an index leads to, page by page: not as they were at one moment. */
export async function listAll<T>(
  { store, random }: { readonly store: Store; readonly random: RandomSource },
  partition: string,
  index: Index<T>,
): Promise<T[]> {
  const found: T[] = []
  for (let after: string | undefined; ;) {
    const { entries, values } = await transact(store, partition, random, (tx) => tx.range(index, { after, limit: PAGE, weak: true }))
    found.push(...values.filter((value) => value !== undefined))
    if (entries.length < PAGE) return found
    after = entries.at(-1)
  }
}
