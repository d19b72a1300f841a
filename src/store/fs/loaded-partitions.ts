import { getHeapStatistics } from 'node:v8'
import type { MapPartition } from './checkpoint.ts'
import { PendingChanges } from '../pending-changes.ts'

/** The memory that a record takes, as a multiple of its bytes in a checkpoint. Measured, with its share of the indexes. */
const MEMORY_FACTOR = 2
/** The bytes of a record in a checkpoint, as long as the partition has none. */
const RECORD_BYTES = 500

/** The memory that loaded partitions may take by default, in bytes: half of what the process may use for objects. */
export function defaultCacheBytes(): number {
  return getHeapStatistics().heap_size_limit / 2
}

/** A partition in memory. */
export class LoadedPartition {
  readonly state: MapPartition
  readonly pending = new PendingChanges()
  /** the number of changes since it was loaded, and of those that a checkpoint has */
  changes = 0
  savedChanges = 0
  /** whether they could not be written to a checkpoint */
  isStuck = false
  /** when it was last used, as a number that grows with each use */
  usedAt = 0
  /** the memory that it was last found to take, in bytes; an estimate */
  size = 0
  #recordBytes = RECORD_BYTES

  constructor(state: MapPartition) {
    this.state = state
  }

  /** Whether it has changes that only the journal has, and that came after it was loaded. */
  get isChanged(): boolean {
    return this.changes > this.savedChanges
  }

  /** @param bytes the size of its checkpoint */
  learnSize(bytes: number): void {
    this.#recordBytes = bytes / (this.state.records.size + 1)
  }

  /** The memory that it takes now, in bytes. */
  estimate(): number {
    return (this.state.records.size + 1) * this.#recordBytes * MEMORY_FACTOR
  }
}

export interface ReleaseOptions {
  /** the memory that partitions may take, in bytes. If it is not 0, the partition that was used last stays in any case. */
  readonly cacheBytes: number
  /** whether a partition must stay although no one uses it at this moment */
  readonly isNeeded?: (name: string) => boolean
  /** Writes the checkpoint of a partition that has changed. Marks it as stuck if that fails. */
  readonly save?: (name: string, partition: LoadedPartition) => Promise<void>
}

/**
 * The partitions in memory. When they take more memory than they may, those that were not used for the longest time are
 * released. One that has changed gets a checkpoint before. None is released while it is in use.
 */
export class LoadedPartitions {
  readonly #options: ReleaseOptions
  readonly #onRelease: (name: string, partition: LoadedPartition) => void
  readonly #partitions = new Map<string, LoadedPartition>()
  /** partition → how many use it at this moment; it does not have to be loaded yet */
  readonly #uses = new Map<string, number>()
  #now = 0
  #size = 0
  #releasing: Promise<void> | undefined
  /** whether a use has ended since the last search for partitions that can be released */
  #isAsked = false
  /** how many were released so far */
  releases = 0

  /** @param onRelease is called before a partition is released */
  constructor(options: ReleaseOptions, onRelease: (name: string, partition: LoadedPartition) => void) {
    this.#options = options
    this.#onRelease = onRelease
  }

  get count(): number {
    return this.#partitions.size
  }

  /** The memory that they take, in bytes; an estimate. */
  get size(): number {
    return this.#size
  }

  entries(): Iterable<[name: string, partition: LoadedPartition]> {
    return this.#partitions
  }

  has(name: string): boolean {
    return this.#partitions.has(name)
  }

  /** A loaded partition, which counts as used. */
  get(name: string): LoadedPartition | undefined {
    const partition = this.#partitions.get(name)
    if (partition !== undefined) partition.usedAt = ++this.#now
    return partition
  }

  /** A loaded partition. It does not count as used. */
  find(name: string): LoadedPartition | undefined {
    return this.#partitions.get(name)
  }

  /** @param bytes the size of its checkpoint; 0 without one */
  add(name: string, state: MapPartition, bytes = 0): LoadedPartition {
    const partition = new LoadedPartition(state)
    if (bytes > 0) partition.learnSize(bytes)
    partition.usedAt = ++this.#now
    this.#partitions.set(name, partition)
    this.recount(partition)
    return partition
  }

  /** Must be called when a loaded partition has become larger or smaller. */
  recount(partition: LoadedPartition): void {
    const size = partition.estimate()
    this.#size += size - partition.size
    partition.size = size
  }

  /** From now on a partition is in use, and is not released. */
  begin(name: string): void {
    this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1)
  }

  /** Ends a use. @param keep whether it is expected to be used again; otherwise it is the first that is released */
  end(name: string, keep: boolean): void {
    const uses = this.#uses.get(name)! - 1
    if (uses > 0) this.#uses.set(name, uses)
    else this.#uses.delete(name)
    const partition = this.#partitions.get(name)
    if (partition !== undefined && !keep) {
      partition.usedAt = 0
      if (this.#isIdle(name) && !partition.isChanged) this.#remove(name, partition)
    }
    this.#isAsked = true
    this.#startRelease()
  }

  /** Waits until no partition is being released. */
  async settled(): Promise<void> {
    while (this.#releasing !== undefined) await this.#releasing
  }

  #isTooLarge(): boolean {
    const { cacheBytes } = this.#options
    return this.#size > cacheBytes && this.#partitions.size > (cacheBytes > 0 ? 1 : 0)
  }

  #isIdle(name: string): boolean {
    return !this.#uses.has(name) && this.#options.isNeeded?.(name) !== true
  }

  /** One search at a time: uses that end meanwhile lead to another one. */
  #startRelease(): void {
    if (this.#releasing !== undefined || !this.#isAsked || !this.#isTooLarge()) return
    this.#isAsked = false
    this.#releasing = this.#release().finally(() => {
      this.#releasing = undefined
      this.#startRelease()
    })
  }

  /** Those that have not changed are released at once: nothing else runs before. */
  async #release(): Promise<void> {
    for (const [name, partition] of [...this.#partitions].toSorted(([, a], [, b]) => a.usedAt - b.usedAt)) {
      if (!this.#isTooLarge()) return
      // Meanwhile, it may have been released and loaded again.
      const isIdle = () => this.#isIdle(name) && this.#partitions.get(name) === partition
      if (isIdle() && partition.isChanged && !partition.isStuck) await this.#options.save?.(name, partition)
      if (isIdle() && !partition.isChanged) this.#remove(name, partition)
    }
  }

  #remove(name: string, partition: LoadedPartition): void {
    this.#onRelease(name, partition)
    this.#partitions.delete(name)
    this.#size -= partition.size
    this.releases++
  }
}
