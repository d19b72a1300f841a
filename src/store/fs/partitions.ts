import type { Logger } from 'pino'
import { Partition } from '../partition.ts'
import { StorageUnavailable } from '../port.ts'
import { readCheckpoint, type Checkpoint, type MapPartition } from './checkpoint.ts'
import type { Disk } from './disk.ts'
import { StorageDamaged, type Entry, type Journal } from './journal.ts'
import { PendingChanges } from './pending.ts'

/** A partition in memory. */
export interface LoadedPartition {
  readonly state: MapPartition
  readonly pending: PendingChanges
}

/** A change of a partition that is not loaded yet, with the sequence of its frame. */
interface BacklogItem {
  readonly sequence: number
  readonly entry: Entry
}

/**
 * The partitions of a folder. A partition is loaded when it is first used: its checkpoint, and the changes of the
 * journal after it. Partitions fail one by one: the others work while one cannot be read.
 */
export class Partitions {
  readonly #disk: Disk
  /** the folder of the checkpoints */
  readonly #folder: string
  readonly #log: Logger
  /** the last frame of the journal at the start */
  readonly #journalEnd: number
  /** partition → the sequence of its checkpoint, which must exist */
  readonly #checkpoints: ReadonlyMap<string, number>
  readonly #backlog = new Map<string, BacklogItem[]>()
  readonly #loaded = new Map<string, LoadedPartition>()
  readonly #loading = new Map<string, Promise<LoadedPartition | undefined>>()
  readonly #damaged = new Map<string, StorageUnavailable>()

  /** @param checkpoints partition → the sequence of its checkpoint, or of an earlier one */
  constructor(disk: Disk, folder: string, log: Logger, journal: Journal, checkpoints: ReadonlyMap<string, number>) {
    this.#disk = disk
    this.#folder = folder
    this.#log = log
    this.#journalEnd = journal.sequence
    this.#checkpoints = checkpoints
    for (const { sequence, entries } of journal.frames) {
      for (const entry of entries) {
        const items = this.#backlog.get(entry.partition) ?? []
        this.#backlog.set(entry.partition, items)
        items.push({ sequence, entry })
      }
    }
  }

  /** The partitions that have changes in the journal and are not loaded. */
  get waiting(): Iterable<string> {
    return this.#backlog.keys()
  }

  /** All partitions: those with a checkpoint, with changes in the journal, or loaded. */
  get names(): readonly string[] {
    return [...new Set([...this.#checkpoints.keys(), ...this.#backlog.keys(), ...this.#loaded.keys()])]
  }

  /** The partitions that were found damaged. */
  get damaged(): readonly string[] {
    return [...this.#damaged.keys()]
  }

  /** The first frame with a change of a partition that is not loaded. */
  firstWaiting(name: string): number | undefined {
    return this.#backlog.get(name)?.[0]?.sequence
  }

  /**
   * @returns undefined when nothing was ever written to the partition
   * @throws {StorageUnavailable} when it cannot be read. It is read again at its next use, unless it is damaged.
   */
  async load(name: string): Promise<LoadedPartition | undefined> {
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

  /** Adds a partition, unless it is present. */
  add(name: string, state = new Partition(new Map()) as MapPartition): LoadedPartition {
    const present = this.#loaded.get(name)
    if (present !== undefined) return present
    const added = { state, pending: new PendingChanges() }
    this.#loaded.set(name, added)
    return added
  }

  async #read(name: string): Promise<LoadedPartition | undefined> {
    try {
      const checkpoint = await readCheckpoint(this.#disk, this.#folder, name)
      this.#requireMatch(name, checkpoint)
      const backlog = this.#backlog.get(name)
      if (checkpoint === undefined && backlog === undefined) return undefined
      const loaded = this.add(name, checkpoint?.state)
      for (const { sequence, entry } of backlog ?? []) if (sequence > (checkpoint?.sequence ?? 0)) loaded.state.apply(entry)
      this.#backlog.delete(name)
      return loaded
    } catch (error) {
      this.#log.error({ err: error, partition: name }, 'records could not be read')
      const unavailable = new StorageUnavailable('records could not be read', { cause: error })
      if (error instanceof StorageDamaged) this.#damaged.set(name, unavailable)
      throw unavailable
    }
  }

  /** @throws {StorageDamaged} when a checkpoint is missing, or not of the same time as the journal */
  #requireMatch(name: string, checkpoint: Checkpoint | undefined): void {
    const path = `${this.#folder}/${name}`
    const expected = this.#checkpoints.get(name)
    if (checkpoint === undefined) {
      if (expected !== undefined) throw new StorageDamaged(`${path} is missing`)
    } else if (checkpoint.sequence < (expected ?? 0))
      throw new StorageDamaged(`${path} has the state of frame ${checkpoint.sequence}, and must have that of frame ${expected}`)
    else if (checkpoint.end > this.#journalEnd)
      throw new StorageDamaged(`the journal ends at frame ${this.#journalEnd}, before the checkpoint of ${name} at frame ${checkpoint.end}`)
  }
}
