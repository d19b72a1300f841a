/**
 * The rebalancings of an ordered list. A rebalancing replaces all positions by short ones in the same order. With this
 * record, a cursor from before a rebalancing can continue at the same item.
 */
export interface OrderRecord {
  /** the number of rebalancings so far */
  readonly generation: number
  /** the latest rebalancings, oldest first: the generation before it, and the index entries before and after it, in order */
  readonly maps: readonly { readonly from: number; readonly old: readonly string[]; readonly new: readonly string[] }[]
}
