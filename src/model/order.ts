/**
 * How an ordered list was rebalanced: written anew with short positions, in the same order. It is kept so that
 * a cursor from before still leads to the same place.
 */
export interface OrderRecord {
  /** how often it was rebalanced */
  readonly generation: number
  /** the latest of these, oldest first: entry by entry, what it was and what it became */
  readonly maps: readonly { readonly from: number; readonly old: readonly string[]; readonly new: readonly string[] }[]
}
