import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import type { OrderRecord } from '../model/order.ts'
import { positionEntry, type Index } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import type { RangeOptions } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import { neighborOf, type ResolvedPlacement } from './placement.ts'

/** An item of a ranked list. Positions compare as text; between any two there is another. */
export interface Ranked {
  readonly id: string
  readonly position: string
}

/** A list whose items have positions. */
export interface RankedList<T extends Ranked> {
  /** the id of the resource that the list belongs to */
  readonly id: string
  /** the indexes of its items. Archived items keep their positions, so their index belongs to the list too. */
  readonly indexes: readonly Index<T>[]
  readonly keyOf: (id: string) => Key<T>
}

/** A longer position causes a rebalancing. */
const MAX_LENGTH = 40
/** The length of the longest position after a rebalancing of a part of a list. */
const ROOMY_LENGTH = 20
/** The number of items on each side that a rebalancing starts with. */
const FIRST_REACH = 32
/** The number of rebalancings that a cursor survives. */
const KEPT_REBALANCINGS = 8

/**
 * Finds the position of a place. This writes no other record, except when the position would be too long or two
 * neighbors have the same one: then the items around the place are rebalanced in the same commit.
 * @param self the item of the list that is moved, which is ignored as a neighbor. If it is there already, it keeps its position.
 */
export async function positionAt<T extends Ranked>(
  tx: Transaction,
  list: RankedList<T>,
  placement: ResolvedPlacement<T>,
  self?: T,
): Promise<string> {
  const { records, ranges } = await tx.load(positionReads(list, placement))
  const { low, high } = neighborPositions(placement, ranges, self?.id)
  if (self !== undefined && isBetween(self.position, low, high)) return self.position
  const fits = low === undefined || high === undefined || low < high
  const position = fits ? generateKeyBetween(low, high) : undefined
  if (position !== undefined && position.length <= MAX_LENGTH) return position
  return rebalance(tx, list, placement, self?.id, records[0])
}

/** The positions of the items of a new list. */
export function positionsOfNewList(count: number): string[] {
  return generateNKeysBetween(undefined, undefined, count)
}

function isBetween(position: string, low: string | undefined, high: string | undefined): boolean {
  return (low === undefined || low < position) && (high === undefined || position < high)
}

/**
 * What {@link positionAt} reads. The commit must fail if the list was rebalanced meanwhile, because the position would be
 * wrong. The neighbors are weak reads: an item that is added between them does not make the position wrong. Archived items
 * are included, so that each comes back to its place.
 */
export function positionReads<T extends Ranked>(list: RankedList<T>, placement: ResolvedPlacement<T>) {
  const options: RangeOptions = { limit: 2, weak: true, entriesOnly: true, ...neighborRange(placement) }
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

/** A stretch of a list around a place, with the entries next to it on both sides; undefined: the list ends there. */
interface Window<T> {
  readonly items: readonly T[]
  readonly low: string | undefined
  readonly high: string | undefined
}

/**
 * Gives the items around a place new positions with room between them, in the same order. A commit should stay small, so the
 * window grows only while the items next to it leave no room for short positions, and on their side.
 */
async function rebalance<T extends Ranked>(
  tx: Transaction,
  list: RankedList<T>,
  placement: ResolvedPlacement<T>,
  self: string | undefined,
  order: OrderRecord | undefined,
): Promise<string> {
  let [below, above] = [FIRST_REACH, FIRST_REACH]
  let window = await readWindow(tx, list, placement, self, below, above)
  let positions = positionsIn(window)
  for (; positions === undefined; positions = positionsIn(window)) {
    const [isLowLong, isHighLong] = [isLong(window.low), isLong(window.high)]
    if (isLowLong || !isHighLong) below *= 2
    if (isHighLong || !isLowLong) above *= 2
    window = await readWindow(tx, list, placement, self, below, above)
  }
  const { items, low, high } = window
  const [own] = positions.splice(slotOf(items, placement), 1)
  // Their order is the same, so `updated_at` remains.
  const moved = items.map((item, i) => ({ ...item, position: positions[i]! }))
  for (const [i, item] of moved.entries()) if (item.position !== items[i]!.position) tx.put(list.keyOf(item.id), item)
  const generation = order?.generation ?? 0
  const bounds = { ...(low !== undefined && { low }), ...(high !== undefined && { high }) }
  const map = { from: generation, ...bounds, old: items.map(positionEntry), new: moved.map(positionEntry) }
  tx.put(keys.order(list.id), { generation: generation + 1, maps: [...(order?.maps ?? []), map].slice(-KEPT_REBALANCINGS) })
  return own!
}

/**
 * Positions for the items of a window and one more.
 * @returns undefined if they would be long. The positions of a whole list are always short enough.
 */
function positionsIn<T>({ items, low, high }: Window<T>): string[] | undefined {
  const [after, before] = [low, high].map((entry) => entry?.split(' ')[0])
  if (after !== undefined && before !== undefined && after >= before) return undefined
  const positions = generateNKeysBetween(after, before, items.length + 1)
  const isWhole = low === undefined && high === undefined
  return isWhole || positions.every(({ length }) => length <= ROOMY_LENGTH) ? positions : undefined
}

/** Whether the entry next to a window has a long position, so that a position beside it would be long too. */
function isLong(entry: string | undefined): boolean {
  return entry !== undefined && entry.indexOf(' ') > ROOMY_LENGTH / 2
}

/**
 * Reads the items around a place, up to the first gap on each side.
 * @param below the number of items of each index before the place
 * @param above the number of items of each index behind it
 */
async function readWindow<T extends Ranked>(
  tx: Transaction,
  list: RankedList<T>,
  placement: ResolvedPlacement<T>,
  self: string | undefined,
  below: number,
  above: number,
): Promise<Window<T>> {
  const named = neighborOf(placement)
  const neighbor = named && (await tx.get(list.keyOf(named.id)))
  const entry = neighbor && positionEntry(neighbor)
  const side = async (reverse: boolean, reach: number) => {
    const bound = entry === undefined ? {} : reverse ? { before: entry } : { after: entry }
    const options = { ...bound, reverse, limit: reach + 1 }
    const { ranges } = await tx.load({ ranges: list.indexes.map((index) => ({ index, options })) })
    // The first entry that an index has beyond its reach: behind it, entries of that index are missing.
    const ends = ranges.flatMap(({ entries }) => entries.slice(reach)).toSorted()
    const end = reverse ? ends.at(-1) : ends[0]
    const isInside = (item: T) => end === undefined || (reverse ? positionEntry(item) > end : positionEntry(item) < end)
    return { items: ranges.flatMap(({ values }) => values).filter((item) => item !== undefined && isInside(item)) as T[], end }
  }
  const atEnd = { items: [], end: undefined }
  const left = 'to' in placement && placement.to === 'first' ? atEnd : await side(true, below)
  const right = 'to' in placement && placement.to === 'last' ? atEnd : await side(false, above)
  const found = [...left.items, ...(neighbor === undefined ? [] : [neighbor]), ...right.items].filter(({ id }) => id !== self)
  const byEntry = new Map(found.map((item) => [positionEntry(item), item]))
  const items = [...byEntry.keys()].toSorted().map((key) => byEntry.get(key)!)
  return { items, low: left.end, high: right.end }
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
    const { low, high } = map
    if ((low !== undefined && position <= low) || (high !== undefined && position >= high)) continue
    const before = map.old.findLastIndex((old) => old <= position)
    position = before === -1 ? (low ?? '') : map.new[before]!
  }
  return position
}
