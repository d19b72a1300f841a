import { z } from 'zod'
import { countField, documented } from '../model/fields.ts'
import type { Index } from '../store/indexes.ts'
import type { Transaction } from '../store/transaction.ts'

/**
 * Counts of what belongs to a resource, on request (`?include=counts`). They are not part of the resource: they change
 * without it, so a response with counts has no ETag.
 */

/** The indexes to count, by the name of the count. */
export type CountedIndexes = Readonly<Record<string, Index<unknown>>>

/** The schema of the optional member `counts` with these counts. */
export function countsShape<const Name extends string>(...names: Name[]) {
  const numbers = Object.fromEntries(names.map((name) => [name, countField(`The number of ${name}.`, Number.MAX_SAFE_INTEGER)])) as Record<
    Name,
    z.ZodNumber
  >
  return { counts: documented(z.strictObject(numbers), { description: 'How much belongs to it: only with `include=counts`.' }).optional() }
}

/** Counts for several resources, in one snapshot. */
export async function countAll(tx: Transaction, counted: readonly CountedIndexes[]): Promise<Record<string, number>[]> {
  const counts = await tx.counts(counted.flatMap((indexes) => Object.values(indexes)))
  return counted.map((indexes) => Object.fromEntries(Object.keys(indexes).map((name) => [name, counts.shift()!])))
}
