/**
 * The rebalancings of an ordered list. A rebalancing replaces all positions by short ones in the same order. Its
 * record lets a cursor from before it continue at the same place.
 */
export interface OrderRecord {
  /** the number of rebalancings so far */
  readonly generation: number
  /** the latest rebalancings, oldest first: the index entries before and after, in order */
  readonly maps: readonly { readonly from: number; readonly old: readonly string[]; readonly new: readonly string[] }[]
}
