/**
 * The rebalancings of an ordered list. A rebalancing replaces positions by short ones in the same order. With this record,
 * a cursor from before a rebalancing can continue at the same item.
 */
export interface OrderRecord {
  /** the number of rebalancings so far */
  readonly generation: number
  /** the latest rebalancings, oldest first */
  readonly maps: readonly Rebalancing[]
}

interface Rebalancing {
  /** the generation before it */
  readonly from: number
  /** the index entries next to those that it changed; absent at the ends of the list */
  readonly low?: string
  readonly high?: string
  /** the index entries before and after it, in order */
  readonly old: readonly string[]
  readonly new: readonly string[]
}
