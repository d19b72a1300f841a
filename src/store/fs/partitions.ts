import type { Logger } from 'pino'
import { Partition } from '../partition.ts'
import { StorageUnavailable, type StoreMetrics } from '../port.ts'
import { readCheckpoint, type Checkpoint, type MapPartition } from './checkpoint.ts'
import type { Disk } from './disk.ts'
import { ADVICE, StorageDamaged, type Entry, type Journal } from './journal.ts'
import { LoadedPartitions, type LoadedPartition, type ReleaseOptions } from './loaded-partitions.ts'
import type { Manifest } from './manifest.ts'
import { Semaphore } from '../semaphore.ts'
import { indexes } from '../indexes.ts'

const INDEX = indexes.tombstones().name

/**
 * The first entry of the index of tombstones in each partition that is not loaded, so that garbage collection does not need
 * to load a partition in which nothing is due. It may be too early, and never too late: what the manifest says may be old, and
 * the journal has all entries that were added since.
 */
class FirstTombstones {
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

/** Partitions that are loaded at the same time: each takes memory before anyone can use it. */
const MAX_LOADS = 4

/** A partition cannot be read. */
export class UnreadablePartition extends StorageUnavailable {}

/** A change in the journal as it was at the start, with the sequence of its frame. */
interface BacklogItem {
  readonly sequence: number
  readonly entry: Entry
}

export interface PartitionsOptions extends ReleaseOptions {
  readonly disk: Disk
  /** the folder of the checkpoints */
  readonly folder: string
  readonly log: Logger
  /** the journal at the start */
  readonly journal: Journal
  /** Its checkpoints are the present ones, at all times: partition → the sequence of its checkpoint, or of an earlier one. */
  readonly manifest: Pick<Manifest, 'checkpoints' | 'tombstones'>
  /** the last frame of the journal, now */
  readonly journalEnd: () => number
}

/**
 * The partitions of a folder. A partition is loaded when it is used: its checkpoint, and the changes of the journal after
 * it. It is released when the memory is needed for others. Partitions fail one by one: the others work while one cannot be read.
 */
export class Partitions {
  /** without the journal, so that its changes do not stay in memory when checkpoints have them */
  readonly #options: Omit<PartitionsOptions, 'journal'>
  /** the changes of the journal at the start, until a checkpoint has them */
  readonly #backlog = new Map<string, BacklogItem[]>()
  readonly #loaded: LoadedPartitions
  readonly #loading = new Map<string, Promise<LoadedPartition | undefined>>()
  readonly #damaged = new Map<string, StorageUnavailable>()
  readonly #tombstones: FirstTombstones
  readonly #semaphore = new Semaphore(MAX_LOADS)
  /** how many were loaded so far */
  #loads = 0

  constructor({ journal, ...options }: PartitionsOptions) {
    this.#options = options
    this.#loaded = new LoadedPartitions(options, (name, { state }) => this.#tombstones.learn(name, state))
    this.#tombstones = new FirstTombstones(options.manifest, journal)
    for (const { sequence, entries } of journal.frames) {
      for (const entry of entries) {
        const items = this.#backlog.get(entry.partition) ?? []
        this.#backlog.set(entry.partition, items)
        items.push({ sequence, entry })
      }
    }
  }

  /** The partitions with changes in the journal of the start that are in no checkpoint. */
  get waiting(): Iterable<string> {
    return this.#backlog.keys()
  }

  /** All partitions: those with a checkpoint, with changes in the journal, or loaded. */
  get names(): readonly string[] {
    const loaded = [...this.#loaded.entries()].map(([name]) => name)
    return [...new Set([...this.#options.manifest.checkpoints.keys(), ...this.#backlog.keys(), ...loaded])]
  }

  /** The partitions that were found damaged. */
  get damaged(): readonly string[] {
    return [...this.#damaged.keys()]
  }

  /** The first frame with a change of a partition that is not in a checkpoint of this process, and was not made by it. */
  firstWaiting(name: string): number | undefined {
    return this.#backlog.get(name)?.[0]?.sequence
  }

  /** A partition, if it is loaded; it counts as used. The caller must not keep it beyond its present synchronous step. */
  peek(name: string): LoadedPartition | undefined {
    return this.#loaded.get(name)
  }

  isLoaded(name: string): boolean {
    return this.#loaded.has(name)
  }

  /**
   * Runs work with a partition, which stays loaded meanwhile.
   * @param work gets undefined when nothing was ever written to the partition
   * @throws {UnreadablePartition} when it cannot be read. It is read again at its next use, unless it is damaged.
   */
  async use<T>(name: string, work: (partition: LoadedPartition | undefined) => T | Promise<T>): Promise<T> {
    this.#loaded.begin(name)
    try {
      return await work(await this.#load(name))
    } finally {
      this.#loaded.end(name, true)
    }
  }

  /**
   * Runs work during which a partition is not released. If it was not loaded before, it is not expected to be used again
   * soon: afterwards it is released, or is the first one that will be.
   */
  async hold<T>(name: string, work: () => Promise<T>): Promise<T> {
    const wasLoaded = this.#loaded.has(name)
    this.#loaded.begin(name)
    try {
      return await work()
    } finally {
      this.#loaded.end(name, wasLoaded)
    }
  }

  /** Runs work with a partition in {@link hold}. */
  visit<T>(name: string, work: (partition: LoadedPartition | undefined) => Promise<T>): Promise<T> {
    return this.hold(name, async () => work(await this.#load(name)))
  }

  /** Reads batches of a partition in {@link hold}. */
  async *read<T>(name: string, batchesOf: (state: MapPartition) => Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
    const wasLoaded = this.#loaded.has(name)
    this.#loaded.begin(name)
    try {
      const partition = await this.#load(name)
      if (partition !== undefined) yield* batchesOf(partition.state)
    } finally {
      this.#loaded.end(name, wasLoaded)
    }
  }

  /** Adds a partition that does not exist, unless another use has added it. It must be in use. */
  add(name: string): LoadedPartition {
    return this.#loaded.get(name) ?? this.#loaded.add(name, new Partition(new Map()) as MapPartition)
  }

  /** Must be called when a change was applied to a partition that is in use. */
  changed(partition: LoadedPartition): void {
    partition.changes++
    partition.isStuck = false
    this.#loaded.recount(partition)
  }

  /**
   * Must be called when a checkpoint of a loaded partition was written.
   * @param changes the number of its changes when that began
   * @param size the size of the checkpoint, in bytes
   */
  saved(name: string, partition: LoadedPartition, changes: number, size: number): void {
    this.#backlog.delete(name)
    partition.savedChanges = changes
    partition.learnSize(size)
    this.#loaded.recount(partition)
  }

  /** Whether a partition may have a tombstone whose entry is before a text. Does not load it. */
  mayHaveTombstoneBefore(name: string, entry: string): boolean {
    const partition = this.#loaded.find(name)
    if (partition !== undefined) this.#tombstones.learn(name, partition.state)
    const first = this.#tombstones.all.get(name)
    return first !== undefined && first < entry
  }

  /** The first tombstone of each partition (see {@link FirstTombstones}). */
  firstTombstones(): ReadonlyMap<string, string> {
    for (const [name, { state }] of this.#loaded.entries()) this.#tombstones.learn(name, state)
    return this.#tombstones.all
  }

  metrics(): Pick<StoreMetrics, 'loadedPartitions' | 'loadedBytes' | 'partitionLoads' | 'partitionReleases'> {
    const { count, size, releases } = this.#loaded
    return { loadedPartitions: count, loadedBytes: Math.round(size), partitionLoads: this.#loads, partitionReleases: releases }
  }

  /** Waits until no partition is being released. */
  settled(): Promise<void> {
    return this.#loaded.settled()
  }

  async #load(name: string): Promise<LoadedPartition | undefined> {
    const loaded = this.#loaded.get(name)
    if (loaded !== undefined) return loaded
    const damage = this.#damaged.get(name)
    if (damage !== undefined) throw damage
    let loading = this.#loading.get(name)
    if (loading === undefined) {
      loading = this.#read(name).finally(() => this.#loading.delete(name))
      this.#loading.set(name, loading)
    }
    return loading
  }

  async #read(name: string): Promise<LoadedPartition | undefined> {
    const { disk, folder, log, manifest } = this.#options
    await this.#semaphore.acquire()
    try {
      // Before the file is read: a checkpoint that is written meanwhile is not expected.
      const expected = manifest.checkpoints.get(name)
      const checkpoint = await readCheckpoint(disk, folder, name)
      this.#requireMatch(name, checkpoint, expected)
      const backlog = this.#backlog.get(name)
      // A commit may have added it meanwhile.
      const added = this.#loaded.get(name)
      if (added !== undefined || (checkpoint === undefined && backlog === undefined)) return added
      const { state, sequence: saved, size } = checkpoint ?? { state: new Partition(new Map()) as MapPartition, sequence: 0, size: 0 }
      for (const { sequence, entry } of backlog ?? []) if (sequence > saved) state.apply(entry)
      this.#loads++
      return this.#loaded.add(name, state, size)
    } catch (error) {
      log.error({ err: error, partition: name }, 'records could not be read')
      // At the start of a command or a service, nothing but the message says what is damaged.
      const isDamaged = error instanceof StorageDamaged
      const unavailable = new UnreadablePartition(isDamaged ? `${error.message}; ${ADVICE}` : 'records could not be read', { cause: error })
      if (isDamaged) this.#damaged.set(name, unavailable)
      throw unavailable
    } finally {
      this.#semaphore.release()
    }
  }

  /** @throws {StorageDamaged} when a checkpoint is missing, or not of the same time as the journal */
  #requireMatch(name: string, checkpoint: Checkpoint | undefined, expected: number | undefined): void {
    const { folder, journalEnd } = this.#options
    const path = `${folder}/${name}`
    if (checkpoint === undefined) {
      if (expected !== undefined) throw new StorageDamaged(`${path} is missing`)
    } else if (checkpoint.sequence < (expected ?? 0))
      throw new StorageDamaged(`${path} has the state of frame ${checkpoint.sequence}, and must have that of frame ${expected}`)
    else if (checkpoint.end > journalEnd())
      throw new StorageDamaged(`the journal ends at frame ${journalEnd()}, before the checkpoint of ${name} at frame ${checkpoint.end}`)
  }
}
