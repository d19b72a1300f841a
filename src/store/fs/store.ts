import type { Logger } from 'pino'
import { Partition } from '../partition.ts'
import type { Change, DriverDamage, ReadRequest, Snapshot, Store, Stored, StoreMetrics, Value } from '../port.ts'
import { damagedCheckpoints, writeCheckpoint } from './checkpoint.ts'
import { assertSynced, realDisk, SyncFailed, type Disk } from './disk.ts'
import { Turns, type Turn } from '../turns.ts'
import { FolderMetrics } from './folder-metrics.ts'
import { checkFolder, createFolder, hasManifest, schemaOf, writeFormat } from './folder.ts'
import { firstFrameOf, readJournal, repairJournal, type Journal } from './journal.ts'
import { listCheckpoints, readManifest, removeMark, writeManifest, type Manifest } from './manifest.ts'
import { Partitions } from './partitions.ts'
import { Reserve } from './reserve.ts'
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
  /** whether this process still has the lock of the folder */
  readonly isLocked?: (() => Promise<boolean>) | undefined
  /** the space that is kept for changes that only revoke or remove, in bytes; none by default */
  readonly reserveSize?: number
}

/**
 * Opens a store in a folder: records and indexes in memory, every commit in a journal, checkpoints to keep the
 * journal short. A partition is loaded when it is first used. A commit is synced to the disk before it is
 * acknowledged or visible, so it survives a crash of the process or the machine. One process per folder: the caller
 * holds its lock.
 * @throws {UnusableFolder} when the folder belongs to another program or has another format
 * @throws {StorageDamaged} when the folder is not as a shutdown or a crash leaves it
 * @throws {SyncFailed}
 */
export async function openFsStore(path: string, options: FsStoreOptions): Promise<FsStore> {
  const { log, disk = realDisk, compactAt = COMPACT_AT, isLocked, reserveSize = 0 } = options
  const format = await checkFolder(path, disk)
  if (format === undefined) await createFolder(disk, path)
  const journal = await readJournal(disk, `${path}/journal`)
  const read = hasManifest(format) ? await readManifest(disk, path, journal) : undefined
  const file = await repairJournal(disk, `${path}/journal`, journal)
  if (file !== undefined) log.warn({ file }, 'the journal had an incomplete entry at its end, as a crash leaves it; it was moved to a file')
  if (read?.closed === true) await removeMark(disk, path)
  const manifest = read?.manifest ?? (await addManifest(disk, path, journal))
  // The format of a folder with old records remains until it is known otherwise that they are old.
  if (format !== undefined && !hasManifest(format) && schemaOf(format) > 0) await writeFormat(disk, path)
  const { sequence, size } = journal
  const reserve = reserveSize === 0 ? undefined : new Reserve(disk, path, reserveSize)
  await reserve?.open()
  const end = { last: journal.last?.name, sequence, written: size }
  const writer = await JournalWriter.open(disk, `${path}/journal`, end, isLocked, reserve)
  const store = new FsStore(path, disk, log, compactAt, writer, journal, manifest, schemaOf(format))
  // Otherwise frequent restarts would let the journal grow without limit.
  if (size > compactAt) void store.compact()
  return store
}

/** Gives a folder of the format before it a manifest. What is missing from such a folder cannot be known. */
async function addManifest(disk: Disk, path: string, { first = 1, sequence }: Journal): Promise<Manifest> {
  const manifest: Manifest = { start: first, sequence, checkpoints: await listCheckpoints(disk, path) }
  await writeManifest(disk, path, manifest)
  return manifest
}

/** A store in a folder. */
export class FsStore implements Store {
  readonly driver = 'fs'
  readonly impliedSchema: number
  readonly #path: string
  readonly #disk: Disk
  readonly #log: Logger
  readonly #compactAt: number
  readonly #writer: JournalWriter
  readonly #partitions: Partitions
  readonly #turns = new Turns()
  /** the first frame that is not in a checkpoint */
  #start: number
  /** partition → the sequence of its checkpoint */
  readonly #checkpoints: Map<string, number>
  /** the journal size that triggers the next compaction, in bytes */
  #compactionThreshold: number
  /** partitions with changes that are not in their checkpoints */
  #dirty: Set<string>
  #compacting: Promise<void> | undefined
  readonly #metrics: FolderMetrics

  constructor(
    path: string,
    disk: Disk,
    log: Logger,
    compactAt: number,
    writer: JournalWriter,
    journal: Journal,
    { start, checkpoints }: Manifest,
    impliedSchema = 1,
  ) {
    this.impliedSchema = impliedSchema
    this.#path = path
    this.#metrics = new FolderMetrics(disk, path)
    this.#disk = disk
    this.#log = log
    this.#compactAt = compactAt
    this.#compactionThreshold = compactAt
    this.#writer = writer
    this.#start = start
    this.#checkpoints = new Map(checkpoints)
    this.#partitions = new Partitions(disk, `${path}/records`, log, journal, checkpoints)
    this.#dirty = new Set(this.#partitions.waiting)
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    const loaded = await this.#partitions.load(partition)
    return (loaded?.state ?? new Partition(new Map())).read(request)
  }

  async commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    await this.#turns.pass(partition, change.turn)
    if (this.#writer.broken !== undefined) throw this.#writer.broken
    const { state, pending } = (await this.#partitions.load(partition)) ?? this.#partitions.add(partition)
    if (!state.meets(change.expect, pending)) {
      // The conflict may be with a pending change. It must be visible to the caller's next attempt.
      if (!pending.empty) await this.#writer.flush()
      return 'conflict'
    }
    pending.stage(change)
    const { revision, reduces, put, remove, indexes } = change
    try {
      await this.#writer.append({ partition, revision, reduces, put, remove, indexes }, () => {
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
    const loaded = await this.#partitions.load(partition)
    if (loaded !== undefined) yield* loaded.state.dump()
  }

  async partitions(): Promise<readonly string[]> {
    return this.#partitions.names
  }

  async *scan(partition: string): AsyncGenerator<(readonly [string, Stored])[]> {
    const loaded = await this.#partitions.load(partition)
    if (loaded !== undefined) yield* loaded.state.scan()
  }

  async *indexNames(partition: string): AsyncGenerator<string[]> {
    const loaded = await this.#partitions.load(partition)
    if (loaded !== undefined) yield* loaded.state.indexNames()
  }

  async adoptFormat(): Promise<void> {
    await this.#writer.requireOwner()
    await writeFormat(this.#disk, this.#path)
  }

  /** Reads all checkpoints again: a disk may have damaged one since it was loaded. */
  findDamage(): AsyncGenerator<DriverDamage[]> {
    return damagedCheckpoints(this.#disk, `${this.#path}/records`, [...this.#checkpoints.keys()])
  }

  async ready(): Promise<void> {
    await this.#writer.requireWritable()
  }

  metrics(): Promise<StoreMetrics> {
    return this.#metrics.read()
  }

  /** The partitions that were found damaged. The others work. */
  damaged(): readonly string[] {
    return this.#partitions.damaged
  }

  async close(): Promise<void> {
    // Nothing may be written from here on, except the mark of the shutdown: another process may take over the folder.
    await this.#writer.end()
    await this.#compacting
    await this.#writeManifest({ closed: true }).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'the shutdown could not be recorded; the next start takes it for a crash'),
    )
    await this.#writer.close()
  }

  /**
   * Writes checkpoints of changed partitions and removes the journal files that they replace. Logs a failure; later
   * commits trigger it again.
   */
  compact(): Promise<void> {
    this.#compacting ??= this.#compact()
      .then(() => this.#metrics.succeeded())
      .catch((error: unknown) => {
        this.#metrics.failed()
        if (error instanceof SyncFailed) this.#writer.fail(error)
        if (error !== this.#writer.broken) this.#log.error({ err: error }, 'the journal could not be compacted and keeps growing')
      })
      .finally(() => (this.#compacting = undefined))
    return this.#compacting
  }

  async #compact(): Promise<void> {
    const sequence = await this.#writer.rotate()
    const dirty = this.#dirty
    this.#dirty = new Set()
    try {
      let written = 0
      let start = sequence + 1
      for (const name of dirty) {
        // Known as long as it is not loaded.
        const first = this.#partitions.firstWaiting(name)
        const loaded = await this.#partitions.load(name).catch(() => undefined)
        if (loaded === undefined) {
          // It cannot be read, which is logged. The journal keeps its changes.
          start = Math.min(start, first!)
          this.#dirty.add(name)
          continue
        }
        await this.#writer.requireOwner()
        written += await writeCheckpoint(this.#disk, `${this.#path}/records`, name, loaded.state, sequence, () => this.#writer.sequence)
        this.#checkpoints.set(name, sequence)
      }
      this.#start = start
      // From here on, the start of the journal may be missing, and its checkpoints may not.
      await this.#writeManifest()
      // At least as many bytes of journal as were just written: checkpoints then at most double the written bytes.
      this.#compactionThreshold = Math.min(Math.max(this.#compactAt, written), this.#compactAt * MAX_COMPACTION_FACTOR)
      await this.#removeJournal(start)
    } catch (error) {
      for (const name of dirty) this.#dirty.add(name)
      throw error
    }
  }

  async #writeManifest(mark: { closed?: boolean } = {}): Promise<void> {
    await this.#writer.requireOwner()
    const manifest = { start: this.#start, sequence: this.#writer.sequence, checkpoints: this.#checkpoints }
    await writeManifest(this.#disk, this.#path, manifest, mark)
  }

  /** Removes the journal files whose frames are all before `start`. */
  async #removeJournal(start: number): Promise<void> {
    const folder = `${this.#path}/journal`
    const names = (await this.#disk.list(folder)).filter((name) => firstFrameOf(name) !== undefined)
    for (const [i, name] of names.entries()) {
      // The current file is the last one.
      const next = names[i + 1]
      if (next === undefined || firstFrameOf(next)! > start) return
      await this.#disk.remove(`${folder}/${name}`)
      // Synced after each file: otherwise a crash could bring back an older file without a newer one, which is a gap.
      await assertSynced(this.#disk.syncFolder(folder))
    }
  }
}
