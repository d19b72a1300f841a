import { indexes } from '../indexes.ts'
import type { Partition } from '../partition.ts'
import type { Journal } from './journal.ts'
import type { Manifest } from './manifest.ts'

const INDEX = indexes.tombstones().name

/**
 * The first entry of the index of tombstones in each partition that is not loaded, so that garbage collection does not need
 * to load a partition in which nothing is due. It may be too early, and never too late: what the manifest says may be old, and
 * the journal has all entries that were added since.
 */
export class FirstTombstones {
  readonly #first: Map<string, string>

  /** As of the start: the manifest, and what the journal adds. */
  constructor({ tombstones }: Pick<Manifest, 'tombstones'>, { frames }: Pick<Journal, 'frames'>) {
    this.#first = new Map(tombstones)
    const added = new Map<string, Set<string>>()
    for (const { partition, indexes } of frames.flatMap(({ entries }) => entries)) {
      const change = indexes.get(INDEX)
      if (change === undefined) continue
      const entries = added.get(partition) ?? new Set()
      added.set(partition, entries)
      for (const entry of change.remove) entries.delete(entry)
      for (const entry of change.add) entries.add(entry)
    }
    for (const [partition, entries] of added)
      for (const entry of entries) if (!(this.#first.get(partition)! <= entry)) this.#first.set(partition, entry)
  }

  /** Partitions that have, or may have, tombstones. */
  get all(): ReadonlyMap<string, string> {
    return this.#first
  }

  /** Must be called with the present state of a partition before it is released, and when all of them are needed. */
  learn(partition: string, { indexes }: Partition): void {
    const first = indexes.get(INDEX)?.range({ index: INDEX, limit: 1 })[0]
    if (first === undefined) this.#first.delete(partition)
    else this.#first.set(partition, first)
  }
}
