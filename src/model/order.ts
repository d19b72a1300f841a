import { z } from 'zod'
import { shortText, amount } from './fields.ts'

const rebalancing = z.strictObject({
  /** the generation before it */
  from: amount,
  /** the index entries next to those that it changed; absent at the ends of the list */
  low: shortText.optional(),
  high: shortText.optional(),
  /** the index entries before and after it, in order */
  old: z.array(shortText),
  new: z.array(shortText),
})

/**
 * The rebalancings of an ordered list. A rebalancing replaces positions by short ones in the same order. With this record,
 * a cursor from before a rebalancing can continue at the same item.
 */
export const order = z.strictObject({
  /** the number of rebalancings so far */
  generation: amount,
  /** the latest rebalancings, oldest first */
  maps: z.array(rebalancing).max(100),
})
export type OrderRecord = Readonly<z.infer<typeof order>>
