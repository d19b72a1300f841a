/** The number of slots of a cluster. */
const SLOTS = 16_384

/** The part of a client of a cluster that knows its nodes: for each slot, its master and then its replicas. */
export interface SlotTable {
  readonly slots: readonly (readonly string[] | undefined)[]
}

/** The slot of a key whose hash tag this is: the CRC-16/XMODEM of its bytes, modulo the number of slots. */
export function slotOf(tag: string): number {
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  }
  return (crc & 0xffff) % SLOTS
}

/** The master of a slot; undefined if it has none, or it is unknown. */
export function masterOf({ slots }: SlotTable, slot: number): string | undefined {
  return slots[slot]?.[0]
}

/**
 * Hash tags that lead to all masters of a cluster, one to each.
 * @throws {Error} when a slot has no master
 */
export function tagsOfMasters(table: SlotTable): string[] {
  const masters = new Set(Array.from({ length: SLOTS }, (_, slot) => masterOf(table, slot)))
  if (masters.delete(undefined)) throw new Error('a part of the slots has no master')
  const tags: string[] = []
  for (let n = 0; masters.size > 0; n++) if (masters.delete(masterOf(table, slotOf(String(n))))) tags.push(String(n))
  return tags
}

/** Hash tags for equal ranges of slots, in the order of their slots. */
export function tagsOfRanges(count: number): string[] {
  const tags: string[] = []
  for (let n = 0, found = 0; found < count; n++) {
    const range = rangeOf(slotOf(String(n)), count)
    if (tags[range] !== undefined) continue
    tags[range] = String(n)
    found++
  }
  return tags
}

/** The range that has a slot, when all slots are divided into equal ranges. */
export function rangeOf(slot: number, count: number): number {
  return Math.floor((slot * count) / SLOTS)
}
