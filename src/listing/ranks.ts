import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import type { OrderRecord } from '../model/order.ts'
import { timestamp, type Clock } from '../model/time.ts'
import { positionEntry, type Index } from '../store/indexes.ts'
import { keys, type Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'

/** Something that has a place among its like. Positions compare as texts; between any two there is another. */
export interface Positioned {
  readonly id: string
  readonly position: string
  readonly updated_at: string
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
/** So many rebalancings a cursor survives at least. */
export const KEPT_MAPS = 8
const ALL = 100_000

/**
 * Finds the position of a place. Usually that writes nothing else. Where positions would grow long, or two
 * things that came at the same moment have the same one, the whole list is rebalanced in the same commit.
 * @param self the thing that is moved, which is no neighbour of its own
 */
export async function positionAt<T extends Positioned>(
  { tx, clock }: { readonly tx: Transaction; readonly clock: Clock },
  list: OrderedList<T>,
  place: Place<T>,
  self?: string,
): Promise<string> {
  // Relied on: a place found before a rebalancing is none after it.
  const order = await tx.get(keys.order(list.id))
  const [low, high] = await neighbours(tx, list, place, self)
  const fits = low === undefined || high === undefined || low < high
  const position = fits ? generateKeyBetween(low ?? null, high ?? null) : undefined
  return position !== undefined && position.length <= MAX_LENGTH ? position : rebalance(tx, list, place, self, order, timestamp(clock))
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
  order: OrderRecord | undefined,
  updated_at: string,
): Promise<string> {
  const { ranges } = await tx.load({ ranges: list.indexes.map((index) => ({ index, options: { limit: ALL } })) })
  const things = (ranges as { values: readonly (T | undefined)[] }[])
    .flatMap(({ values }) => values)
    .filter((thing): thing is T => thing !== undefined && thing.id !== self)
    .toSorted((a, b) => (positionEntry(a) < positionEntry(b) ? -1 : 1))
  const positions = generateNKeysBetween(null, null, things.length + 1)
  const [own] = positions.splice(slotOf(things, place), 1)
  const now = things.map((thing, i) => ({ ...thing, position: positions[i]!, updated_at }))
  for (const [i, thing] of now.entries()) if (thing.position !== things[i]!.position) tx.put(list.keyOf(thing.id), thing)
  const generation = order?.generation ?? 0
  const map = { from: generation, old: things.map(positionEntry), new: now.map(positionEntry) }
  tx.put(keys.order(list.id), { generation: generation + 1, maps: [...(order?.maps ?? []), map].slice(-KEPT_MAPS) })
  return own!
}

function slotOf<T extends Positioned>(things: readonly T[], place: Place<T>): number {
  if ('to' in place) return place.to === 'first' ? 0 : things.length
  const anchor = 'before' in place ? place.before : place.after
  const at = things.findIndex(({ id }) => id === anchor.id)
  return 'before' in place ? at : at + 1
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
