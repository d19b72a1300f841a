import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import type { OrderRecord } from '../model/order.ts'
import { timestamp, type Clock } from '../model/time.ts'
import { positionEntry, type Index } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { neighborOf, type ResolvedPlacement } from './placement.ts'

/** An item of a ranked list. Positions compare as text; between any two there is another. */
export interface Ranked {
  readonly id: string
  readonly position: string
  readonly updated_at: string
}

/** A list whose items have positions. */
export interface RankedList<T extends Ranked> {
  /** the id of the resource that the list belongs to */
  readonly id: string
  /** the indexes of its items. Archived items keep their positions, so their index belongs to the list too. */
  readonly indexes: readonly Index<T>[]
  readonly keyOf: (id: string) => Key<T>
}

/** A longer position causes a rebalancing of its list. */
const MAX_LENGTH = 40
/** The number of rebalancings that a cursor survives. */
const KEPT_REBALANCINGS = 8

interface Work {
  readonly tx: Transaction
  readonly clock: Clock
}

/**
 * Finds the position of a place. This writes no other record, except when the position would be too long or two
 * neighbors have the same one: then the whole list is rebalanced in the same commit.
 * @param self the id of the item that is moved, which is ignored as a neighbor
 */
export async function positionAt<T extends Ranked>(
  { tx, clock }: Work,
  list: RankedList<T>,
  placement: ResolvedPlacement<T>,
  self?: string,
): Promise<string> {
  // The commit must fail if the list was rebalanced meanwhile: the position would be wrong.
  const order = await tx.get(keys.order(list.id))
  const { low, high } = await neighborPositions(tx, list, placement, self)
  const fits = low === undefined || high === undefined || low < high
  const position = fits ? generateKeyBetween(low, high) : undefined
  if (position !== undefined && position.length <= MAX_LENGTH) return position
  return rebalance({ tx, clock }, list, placement, self, order)
}

/**
 * The positions on both sides of a place, archived items included, so that each comes back to its place. These are
 * weak reads: an item that is added between them does not make the position wrong.
 */
async function neighborPositions<T extends Ranked>(
  tx: Transaction,
  list: RankedList<T>,
  placement: ResolvedPlacement<T>,
  self: string | undefined,
): Promise<{ readonly low?: string | undefined; readonly high?: string | undefined }> {
  const next = async (options: { after?: string; before?: string; reverse?: boolean }): Promise<string | undefined> => {
    const { ranges } = await tx.load({ ranges: list.indexes.map((index) => ({ index, options: { ...options, limit: 2, weak: true } })) })
    const entries = ranges.flatMap((range) => range.entries).filter((entry) => entry.split(' ')[1] !== self)
    return (options.reverse ? entries.toSorted().at(-1) : entries.toSorted()[0])?.split(' ')[0]
  }
  if ('before' in placement)
    return { low: await next({ before: positionEntry(placement.before), reverse: true }), high: placement.before.position }
  if ('after' in placement) return { low: placement.after.position, high: await next({ after: positionEntry(placement.after) }) }
  return placement.to === 'first' ? { high: await next({}) } : { low: await next({ reverse: true }) }
}

async function rebalance<T extends Ranked>(
  { tx, clock }: Work,
  list: RankedList<T>,
  placement: ResolvedPlacement<T>,
  self: string | undefined,
  order: OrderRecord | undefined,
): Promise<string> {
  const byEntry = new Map<string, T>()
  for (const index of list.indexes)
    for (const item of (await tx.all(index)).values) if (item !== undefined && item.id !== self) byEntry.set(positionEntry(item), item)
  const old = [...byEntry.keys()].toSorted()
  const items = old.map((entry) => byEntry.get(entry)!)
  const positions = generateNKeysBetween(null, null, items.length + 1)
  const [own] = positions.splice(slotOf(items, placement), 1)
  const updated_at = timestamp(clock)
  const moved = items.map((item, i) => ({ ...item, position: positions[i]!, updated_at }))
  for (const [i, item] of moved.entries()) if (item.position !== items[i]!.position) tx.put(list.keyOf(item.id), item)
  const generation = order?.generation ?? 0
  const map = { from: generation, old, new: moved.map(positionEntry) }
  tx.put(keys.order(list.id), { generation: generation + 1, maps: [...(order?.maps ?? []), map].slice(-KEPT_REBALANCINGS) })
  return own!
}

function slotOf<T extends Ranked>(items: readonly T[], placement: ResolvedPlacement<T>): number {
  if ('to' in placement) return placement.to === 'first' ? 0 : items.length
  const neighbor = items.findIndex(({ id }) => id === neighborOf(placement)!.id)
  return 'before' in placement ? neighbor : neighbor + 1
}

/**
 * Maps an index entry of an earlier generation of a list to the current one.
 * @returns undefined if the rebalancings since then are no longer remembered
 */
export function currentEntry(order: OrderRecord | undefined, generation: number, entry: string): string | undefined {
  const current = order?.generation ?? 0
  if (generation > current) return undefined
  let position = entry
  for (let step = generation; step < current; step++) {
    const map = order!.maps.find(({ from }) => from === step)
    if (map === undefined) return undefined
    const before = map.old.findLastIndex((old) => old <= position)
    position = before === -1 ? '' : map.new[before]!
  }
  return position
}
