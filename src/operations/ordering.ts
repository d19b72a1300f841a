import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import type { OrderRecord } from '../model/order.ts'
import { positionEntry, type Index } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'

/** Something that has a place among its like. Positions compare as texts; between any two there is another. */
export interface Positioned {
  readonly id: string
  readonly position: string
}

/** A list in which things have places. */
export interface OrderedList<T extends Positioned> {
  /** the id of what the list belongs to */
  readonly id: string
  /** where its things are; those put away keep their places among the others */
  readonly indexes: readonly Index<T>[]
  readonly keyOf: (id: string) => Key<T>
}

/** A place: next to another thing, or at an end. */
export type Place<T> = { readonly before: T } | { readonly after: T } | { readonly to: 'first' | 'last' }

/** Longer positions than this are a reason to write the whole list anew. */
const MAX_LENGTH = 40
const KEPT_MAPS = 2
const ALL = 100_000

/**
 * Finds the position of a place. Usually that writes nothing else. Where positions would grow long, or two
 * things that came at the same moment have the same one, the whole list is rebalanced in the same commit.
 * @param self the thing that is moved, which is no neighbour of its own
 */
export async function positionAt<T extends Positioned>(
  tx: Transaction,
  list: OrderedList<T>,
  place: Place<T>,
  self?: string,
): Promise<string> {
  const [low, high] = await neighbours(tx, list, place, self)
  const fits = low === undefined || high === undefined || low < high
  const position = fits ? generateKeyBetween(low ?? null, high ?? null) : undefined
  return position !== undefined && position.length <= MAX_LENGTH ? position : rebalance(tx, list, place, self)
}

/**
 * The positions on both sides of a place, those of things put away too: so that each comes back to where it was.
 * They are hints: who else comes between takes a place of his own.
 */
async function neighbours<T extends Positioned>(
  tx: Transaction,
  list: OrderedList<T>,
  place: Place<T>,
  self: string | undefined,
): Promise<[low: string | undefined, high: string | undefined]> {
  const next = async (options: { after?: string; before?: string; reverse?: boolean }): Promise<string | undefined> => {
    const { ranges } = await tx.load({ ranges: list.indexes.map((index) => ({ index, options: { ...options, limit: 2, hint: true } })) })
    const entries = ranges.flatMap((range) => range.entries).filter((entry) => entry.split(' ')[1] !== self)
    return (options.reverse ? entries.toSorted().at(-1) : entries.toSorted()[0])?.split(' ')[0]
  }
  if ('before' in place) return [await next({ before: positionEntry(place.before), reverse: true }), place.before.position]
  if ('after' in place) return [place.after.position, await next({ after: positionEntry(place.after) })]
  return place.to === 'first' ? [undefined, await next({})] : [await next({ reverse: true }), undefined]
}

async function rebalance<T extends Positioned>(
  tx: Transaction,
  list: OrderedList<T>,
  place: Place<T>,
  self: string | undefined,
): Promise<string> {
  const { ranges } = await tx.load({ ranges: list.indexes.map((index) => ({ index, options: { limit: ALL } })) })
  const things = (ranges as { values: readonly (T | undefined)[] }[])
    .flatMap(({ values }) => values)
    .filter((thing): thing is T => thing !== undefined && thing.id !== self)
    .toSorted((a, b) => (positionEntry(a) < positionEntry(b) ? -1 : 1))
  const slot = slotOf(things, place)
  const positions = generateNKeysBetween(null, null, things.length + 1)
  const [own] = positions.splice(slot, 1)
  for (const [i, thing] of things.entries()) tx.put(list.keyOf(thing.id), { ...thing, position: positions[i]! })
  await remember(
    tx,
    list.id,
    things.map(positionEntry),
    positions.map((position, i) => positionEntry({ position, id: things[i]!.id })),
  )
  return own!
}

function slotOf<T extends Positioned>(things: readonly T[], place: Place<T>): number {
  if ('to' in place) return place.to === 'first' ? 0 : things.length
  const anchor = 'before' in place ? place.before : place.after
  const at = things.findIndex(({ id }) => id === anchor.id)
  return 'before' in place ? at : at + 1
}

async function remember(tx: Transaction, list: string, old: readonly string[], now: readonly string[]): Promise<void> {
  const order = await tx.get(keys.order(list))
  const generation = order?.generation ?? 0
  const maps = [...(order?.maps ?? []), { from: generation, old, new: now }].slice(-KEPT_MAPS)
  tx.put(keys.order(list), { generation: generation + 1, maps })
}

/**
 * Where a position in a list is now, after the list may have been rebalanced.
 * @param entry of the list as it was in that generation
 * @returns undefined where that was too long ago to tell
 */
export function entryNow(order: OrderRecord | undefined, generation: number, entry: string): string | undefined {
  const present = order?.generation ?? 0
  if (generation > present) return undefined
  let position = entry
  for (let step = generation; step < present; step++) {
    const map = order!.maps.find(({ from }) => from === step)
    if (map === undefined) return undefined
    const before = map.old.findLastIndex((old) => old <= position)
    position = before === -1 ? '' : map.new[before]!
  }
  return position
}
