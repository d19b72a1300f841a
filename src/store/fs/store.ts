import type { Logger } from 'pino'
import { Partition } from '../partition.ts'
import { StorageUnavailable, type Change, type ReadRequest, type Snapshot, type Store, type Value } from '../port.ts'
import { readCheckpoint, writeCheckpoint, type MapPartition } from './checkpoint.ts'
import { assertSynced, realDisk, SyncFailed, type Disk } from './disk.ts'
import { Turns, type Turn } from '../turns.ts'
import { checkFolder, createFolder } from './folder.ts'
import { readJournal, StorageDamaged, type Entry, type Frame } from './journal.ts'
import { PendingChanges } from './pending.ts'
import { JournalWriter } from './writer.ts'

/** Default journal size that triggers a compaction, in bytes. */
const COMPACT_AT = 16 * 1024 * 1024
/** After a large compaction the next one may be triggered later: at most at this multiple of `compactAt`. */
const MAX_COMPACTION_FACTOR = 16

export interface FsStoreOptions {
  readonly log: Logger
  readonly disk?: Disk
  /** the journal size that triggers a compaction, in bytes; 16 MiB by default */
  readonly compactAt?: number
}

interface LoadedPartition {
  readonly state: MapPartition
  readonly pending: PendingChanges
}

/** Journal entries of partitions that are not loaded yet, with the sequences of their frames. */
type Backlog = Map<string, { sequence: number; entry: Entry }[]>

/**
 * Opens a store in a folder: records and indexes in memory, every commit in a journal, checkpoints to keep the
 * journal short. A partition is loaded when it is first used. A commit is synced to the disk before it is
 * acknowledged or visible, so it survives a crash of the process or the machine. One process per folder: the caller
 * holds its lock.
 * @throws {UnusableFolder} when the folder belongs to another program or has another format
 * @throws {StorageDamaged} when the journal is damaged in a way that a crash cannot cause
 * @throws {SyncFailed}
 */
export async function openFsStore(path: string, { log, disk = realDisk, compactAt = COMPACT_AT }: FsStoreOptions): Promise<FsStore> {
  if (!(await checkFolder(path, disk))) await createFolder(disk, path)
  const journal = `${path}/journal`
  const { frames, last, size } = await readJournal(disk, journal)
  // The name of an empty file gives the sequence of its first frame.
  const sequence = frames.at(-1)?.sequence ?? (last === undefined ? 0 : Number.parseInt(last, 10) - 1)
  const writer = await JournalWriter.open(disk, journal, { last, sequence, written: size })
  const store = new FsStore(path, disk, log, compactAt, writer, backlogOf(frames))
  // Otherwise frequent restarts would let the journal grow without limit.
  if (size > compactAt) void store.compact()
  return store
}

/** A store in a folder. */
export class FsStore implements Store {
  readonly driver = 'fs'
  readonly #path: string
  readonly #disk: Disk
  readonly #log: Logger
  readonly #compactAt: number
  readonly #writer: JournalWriter
  readonly #backlog: Backlog
  readonly #partitions = new Map<string, LoadedPartition>()
  readonly #turns = new Turns()
  readonly #loading = new Map<string, Promise<LoadedPartition | undefined>>()
  /** the journal size that triggers the next compaction, in bytes */
  #compactionThreshold: number
  /** partitions with changes that are not in their checkpoints */
  #dirty: Set<string>
  #compacting: Promise<void> | undefined

  constructor(path: string, disk: Disk, log: Logger, compactAt: number, writer: JournalWriter, backlog: Backlog) {
    this.#path = path
    this.#disk = disk
    this.#log = log
    this.#compactAt = compactAt
    this.#compactionThreshold = compactAt
    this.#writer = writer
    this.#backlog = backlog
    this.#dirty = new Set(backlog.keys())
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    const loaded = await this.#load(partition)
    return (loaded?.state ?? new Partition(new Map())).read(request)
  }

  async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    await this.#turns.pass(partition, change.turn)
    if (this.#writer.broken !== undefined) throw this.#writer.broken
    const { state, pending } = (await this.#load(partition)) ?? this.#addPartition(partition)
    if (!state.meets(change.expect, pending)) {
      // The conflict may be with a pending change. It must be visible to the caller's next attempt.
      if (!pending.empty) await this.#writer.flush()
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
    if (this.#writer.written > this.#compactionThreshold) void this.compact()
    return 'done'
  }

  takeTurn(partition: string): Promise<Turn> {
    return this.#turns.take(partition)
  }

  async *dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    const loaded = await this.#load(partition)
    if (loaded !== undefined) yield* loaded.state.dump()
  }

  async ready(): Promise<void> {
    if (this.#writer.broken !== undefined) throw this.#writer.broken
  }

  async close(): Promise<void> {
    // Nothing may be written from here on: another process may take over the folder.
    await this.#writer.close()
    await this.#compacting
  }

  /**
   * Writes checkpoints of changed partitions and removes the journal files that they replace. Logs a failure; later
   * commits trigger it again.
   */
  compact(): Promise<void> {
    this.#compacting ??= this.#compact()
      .catch((error: unknown) => {
        if (error instanceof SyncFailed) this.#writer.fail(error)
        if (error !== this.#writer.broken) this.#log.error({ err: error }, 'the journal could not be compacted and keeps growing')
      })
      .finally(() => (this.#compacting = undefined))
    return this.#compacting
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
      // At least as many bytes of journal as were just written: checkpoints then at most double the written bytes.
      this.#compactionThreshold = Math.min(Math.max(this.#compactAt, written), this.#compactAt * MAX_COMPACTION_FACTOR)
      await this.#removeJournal(current)
    } catch (error) {
      for (const name of dirty) this.#dirty.add(name)
      throw error
    }
  }

  /** Removes the journal files up to and including `last`, except the current one. */
  async #removeJournal(last: string): Promise<void> {
    const folder = `${this.#path}/journal`
    for (const name of await this.#disk.list(folder)) {
      if (name > last || name === this.#writer.current) continue
      await this.#disk.remove(`${folder}/${name}`)
      // Synced after each file: otherwise a crash could bring back an older file without a newer one, which is a gap.
      await assertSynced(this.#disk.syncFolder(folder))
    }
  }

  /** @returns undefined when nothing was ever written to the partition */
  async #load(partition: string): Promise<LoadedPartition | undefined> {
    const loaded = this.#partitions.get(partition)
    if (loaded !== undefined) return loaded
    let loading = this.#loading.get(partition)
    if (loading === undefined) {
      loading = this.#readPartition(partition).finally(() => this.#loading.delete(partition))
      this.#loading.set(partition, loading)
    }
    return loading
  }

  async #readPartition(partition: string): Promise<LoadedPartition | undefined> {
    try {
      const checkpoint = await readCheckpoint(this.#disk, `${this.#path}/records`, partition)
      if (checkpoint !== undefined && checkpoint.sequence > this.#writer.sequence)
        throw new StorageDamaged(
          `the journal ends at frame ${this.#writer.sequence}, before the checkpoint of ${partition} at frame ${checkpoint.sequence}`,
        )
      const backlog = this.#backlog.get(partition)
      if (checkpoint === undefined && backlog === undefined) return undefined
      const loaded = this.#addPartition(partition, checkpoint?.state)
      for (const { sequence, entry } of backlog ?? []) if (sequence > (checkpoint?.sequence ?? 0)) loaded.state.apply(entry)
      this.#backlog.delete(partition)
      return loaded
    } catch (error) {
      this.#log.error({ err: error, partition }, 'records could not be read')
      throw new StorageUnavailable('records could not be read', { cause: error })
    }
  }

  #addPartition(partition: string, state = new Partition(new Map()) as MapPartition): LoadedPartition {
    const present = this.#partitions.get(partition)
    if (present !== undefined) return present
    const added = { state, pending: new PendingChanges() }
    this.#partitions.set(partition, added)
    return added
  }
}

function backlogOf(frames: readonly Frame[]): Backlog {
  const backlog: Backlog = new Map()
  for (const { sequence, entries } of frames) {
    for (const entry of entries)
      (backlog.get(entry.partition) ?? backlog.set(entry.partition, []).get(entry.partition)!).push({ sequence, entry })
  }
  return backlog
}
