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
  const { records, ranges } = await tx.load(positionReads(list, placement))
  const { low, high } = neighborPositions(placement, ranges, self)
  const fits = low === undefined || high === undefined || low < high
  const position = fits ? generateKeyBetween(low, high) : undefined
  if (position !== undefined && position.length <= MAX_LENGTH) return position
  return rebalance({ tx, clock }, list, placement, self, records[0])
}

/**
 * What {@link positionAt} reads. The commit must fail if the list was rebalanced meanwhile, because the position would be
 * wrong. The neighbors are weak reads: an item that is added between them does not make the position wrong. Archived items
 * are included, so that each comes back to its place.
 */
export function positionReads<T extends Ranked>(list: RankedList<T>, placement: ResolvedPlacement<T>) {
  const options = { ...neighborRange(placement), limit: 2, weak: true, entriesOnly: true }
  return { records: [keys.order(list.id)], ranges: list.indexes.map((index) => ({ index, options })) } as const
}

function neighborRange<T extends Ranked>(placement: ResolvedPlacement<T>) {
  if ('before' in placement) return { before: positionEntry(placement.before), reverse: true }
  if ('after' in placement) return { after: positionEntry(placement.after) }
  return { reverse: placement.to === 'last' }
}

/** The positions on both sides of a place. */
function neighborPositions<T extends Ranked>(
  placement: ResolvedPlacement<T>,
  ranges: readonly { readonly entries: readonly string[] }[],
  self: string | undefined,
): { readonly low?: string | undefined; readonly high?: string | undefined } {
  const entries = ranges
    .flatMap((range) => range.entries)
    .filter((entry) => entry.split(' ')[1] !== self)
    .toSorted()
  const positionOf = (entry: string | undefined) => entry?.split(' ')[0]
  if ('before' in placement) return { low: positionOf(entries.at(-1)), high: placement.before.position }
  if ('after' in placement) return { low: placement.after.position, high: positionOf(entries[0]) }
  return placement.to === 'first' ? { high: positionOf(entries[0]) } : { low: positionOf(entries.at(-1)) }
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
 * @param generation as a client has stated it
 * @returns undefined if the list has or remembers no such generation
 */
export function currentEntry(order: OrderRecord | undefined, generation: number, entry: string): string | undefined {
  const current = order?.generation ?? 0
  if (!Number.isSafeInteger(generation) || generation < 0 || generation > current) return undefined
  let position = entry
  for (let step = generation; step < current; step++) {
    const map = order!.maps.find(({ from }) => from === step)
    if (map === undefined) return undefined
    const before = map.old.findLastIndex((old) => old <= position)
    position = before === -1 ? '' : map.new[before]!
  }
  return position
}
