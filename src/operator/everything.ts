import type { Index } from '../store/indexes.ts'
import { transact } from '../store/transact.ts'
import type { Tools } from './tools.ts'

const PAGE = 500

/** Oldest first, as people look for what they made. */
export function byAge<T extends { readonly created_at: string }>(records: readonly T[]): T[] {
  return records.toSorted((a, b) => (a.created_at < b.created_at ? -1 : Number(a.created_at > b.created_at)))
}

/** All records that an index leads to, page by page. */
export async function everything<T>({ store, random }: Tools, partition: string, index: Index<T>): Promise<T[]> {
  const found: T[] = []
  for (let after: string | undefined; ;) {
    const { entries, values } = await transact(store, partition, random, (tx) => tx.range(index, { after, limit: PAGE, hint: true }))
    found.push(...values.filter((value) => value !== undefined))
    if (entries.length < PAGE) return found
    after = entries.at(-1)
  }
}
