import type { Logger } from 'pino'
import { Partition } from '../partition.ts'
import { StorageUnavailable, type Change, type ReadRequest, type Snapshot, type Store, type Value } from '../port.ts'
import { readCheckpoint, writeCheckpoint, type MapPartition } from './checkpoint.ts'
import { assertSynced, SyncFailed, type Disk } from './disk.ts'
import { StorageDamaged, type Entry } from './journal.ts'
import { PendingChanges } from './pending.ts'
import type { JournalWriter } from './writer.ts'

interface Loaded {
  readonly state: MapPartition
  readonly pending: PendingChanges
}

/** Changes that are in the journal of partitions that nobody asked for yet, with the numbers of their frames. */
export type Backlog = Map<string, { sequence: number; entry: Entry }[]>

/** Between two compactions the journal grows to no more than this many times what it may at least. */
const MOST = 16

/** A store in a folder. */
export class FsStore implements Store {
  readonly driver = 'fs'
  readonly #path: string
  readonly #disk: Disk
  readonly #log: Logger
  readonly #compactAt: number
  readonly #writer: JournalWriter
  /** what the journal has of partitions that nobody asked for yet */
  readonly #backlog: Backlog
  readonly #partitions = new Map<string, Loaded>()
  readonly #loading = new Map<string, Promise<Loaded | undefined>>()
  /** so much journal is a reason to compact, in bytes */
  #enough: number
  /** partitions with changes that are in the journal alone */
  #dirty: Set<string>
  #compacting: Promise<void> | undefined

  constructor(path: string, disk: Disk, log: Logger, compactAt: number, writer: JournalWriter, backlog: Backlog) {
    this.#path = path
    this.#disk = disk
    this.#log = log
    this.#compactAt = compactAt
    this.#enough = compactAt
    this.#writer = writer
    this.#backlog = backlog
    this.#dirty = new Set(backlog.keys())
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    const loaded = await this.#load(partition)
    return (loaded?.state ?? new Partition(new Map())).read(request)
  }

  async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    if (this.#writer.broken !== undefined) throw this.#writer.broken
    const { state, pending } = (await this.#load(partition)) ?? this.#begin(partition)
    if (!state.holds(change.expect, pending)) {
      // What stands in the way may be on its way to the disk: whoever tries again must be able to see it.
      if (!pending.empty) await this.#writer.settled()
      return 'conflict'
    }
    pending.stage(change)
    const { revision, put, remove, indexes } = change
    try {
      await this.#writer.append({ partition, revision, put, remove, indexes }, () => {
        pending.settle(change)
        state.apply(change)
        this.#dirty.add(partition)
      })
    } catch (error) {
      pending.settle(change)
      throw error
    }
    if (this.#writer.written > this.#enough) void this.compact()
    return 'done'
  }

  /** Writes checkpoints of what changed and lets go of the journal before them. What fails is tried again later. */
  compact(): Promise<void> {
    this.#compacting ??= this.#compact()
      .catch((error: unknown) => {
        if (error instanceof SyncFailed) this.#writer.stop(error)
        if (error !== this.#writer.broken) this.#log.error({ err: error }, 'the journal could not be compacted; it goes on growing')
      })
      .finally(() => (this.#compacting = undefined))
    return this.#compacting
  }

  async *dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    const loaded = await this.#load(partition)
    if (loaded !== undefined) yield* loaded.state.dump()
  }

  /** Whether changes can be written. @throws {StorageUnavailable} where they cannot */
  async ready(): Promise<void> {
    if (this.#writer.broken !== undefined) throw this.#writer.broken
  }

  async close(): Promise<void> {
    // From here on nothing begins: the folder may soon be another's.
    await this.#writer.close()
    await this.#compacting
  }

  async #compact(): Promise<void> {
    const { current } = this.#writer
    const sequence = await this.#writer.rotate()
    const dirty = this.#dirty
    this.#dirty = new Set()
    try {
      let written = 0
      for (const name of dirty) {
        const { state } = (await this.#load(name))!
        written += await writeCheckpoint(this.#disk, `${this.#path}/records`, name, state, sequence)
      }
      // As much again as was just written: so what is written twice is never more than what is written.
      this.#enough = Math.min(Math.max(this.#compactAt, written), this.#compactAt * MOST)
      const folder = `${this.#path}/journal`
      for (const name of await this.#disk.list(folder)) {
        if (name > current || name === this.#writer.current) continue
        await this.#disk.remove(`${folder}/${name}`)
        // One after the other: of two that are gone the first could come back alone, and there would be a hole.
        await assertSynced(this.#disk.syncFolder(folder))
      }
    } catch (error) {
      for (const name of dirty) this.#dirty.add(name)
      throw error
    }
  }

  async #load(partition: string): Promise<Loaded | undefined> {
    const present = this.#partitions.get(partition)
    if (present !== undefined) return present
    let loading = this.#loading.get(partition)
    if (loading === undefined) {
      loading = this.#read(partition).finally(() => this.#loading.delete(partition))
      this.#loading.set(partition, loading)
    }
    return loading
  }

  async #read(partition: string): Promise<Loaded | undefined> {
    try {
      const checkpoint = await readCheckpoint(this.#disk, `${this.#path}/records`, partition)
      if (checkpoint !== undefined && checkpoint.sequence > this.#writer.sequence)
        throw new StorageDamaged(
          `the journal ends at frame ${this.#writer.sequence}, before the checkpoint of ${partition} at frame ${checkpoint.sequence}`,
        )
      const backlog = this.#backlog.get(partition)
      if (checkpoint === undefined && backlog === undefined) return undefined
      const loaded = this.#begin(partition, checkpoint?.state)
      for (const { sequence, entry } of backlog ?? []) if (sequence > (checkpoint?.sequence ?? 0)) loaded.state.apply(entry)
      this.#backlog.delete(partition)
      return loaded
    } catch (error) {
      this.#log.error({ err: error, partition }, 'records could not be read')
      throw new StorageUnavailable('records could not be read', { cause: error })
    }
  }

  #begin(partition: string, state = new Partition(new Map()) as MapPartition): Loaded {
    const present = this.#partitions.get(partition)
    if (present !== undefined) return present
    const loaded = { state, pending: new PendingChanges() }
    this.#partitions.set(partition, loaded)
    return loaded
  }
}
