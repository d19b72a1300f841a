import type { Logger } from 'pino'
import { numberAppended } from '../change-log.ts'
import { Partition } from '../partition.ts'
import {
  type Change,
  type DriverDamage,
  type ReadRequest,
  type Snapshot,
  type Store,
  type Stored,
  type StoreMetrics,
  type Value,
  StorageUnavailable,
} from '../port.ts'
import { damagedCheckpoints } from './checkpoint.ts'
import { Compaction, FolderMetrics } from './compaction.ts'
import { realDisk, type Disk } from './disk.ts'
import { CommitLeases, type CommitLease } from '../commit-leases.ts'
import { Watchers } from '../watchers.ts'
import { checkFolder, createFolder, UnusableFolder } from './folder.ts'
import { readJournal, repairJournal, type Journal } from './journal.ts'
import { defaultCacheBytes } from './loaded-partitions.ts'
import { beginUse, readManifest, type Manifest } from './manifest.ts'
import { Partitions } from './partitions.ts'
import { Reserve } from './reserve.ts'
import { JournalWriter } from './writer.ts'

/** Default journal size that triggers a compaction, in bytes. */
const COMPACT_AT = 16 * 1024 * 1024
/** Read in place of a partition without data. Nothing is written to it. */
const EMPTY = new Partition(new Map())

export interface FsStoreOptions {
  readonly log: Logger
  readonly disk?: Disk
  /** the journal size that triggers a compaction, in bytes; 16 MiB by default */
  readonly compactAt?: number
  /** the memory that loaded partitions may take, in bytes; half of the heap of the process by default */
  readonly cacheBytes?: number | undefined
  /** whether this process still has the lock of the folder */
  readonly isLocked?: (() => Promise<boolean>) | undefined
  /** the space that is kept for changes that only revoke or remove, in bytes; none by default */
  readonly reserveSize?: number
}

/**
 * Opens a store in a folder: records and indexes in memory, every commit in a journal, checkpoints to keep the
 * journal short. A partition is loaded when it is used, and released when others need the memory. A commit is synced to the disk before it is
 * acknowledged or visible, so it survives a crash of the process or the machine. One process per folder: the caller
 * holds its lock.
 * @throws {UnusableFolder} when the folder belongs to another program or has another format
 * @throws {StorageDamaged} when the folder is not as a shutdown or a crash leaves it
 * @throws {SyncFailed}
 */
export async function openFsStore(path: string, options: FsStoreOptions): Promise<FsStore> {
  const { log, disk = realDisk, isLocked, reserveSize = 0 } = options
  if (!(await checkFolder(path, disk))) await createFolder(disk, path)
  const journal = await readJournal(disk, `${path}/journal`)
  const read = await readManifest(disk, path, journal)
  const file = await repairJournal(disk, `${path}/journal`, journal)
  if (file !== undefined) log.warn({ file }, 'the journal had an incomplete entry at its end, as a crash leaves it; it was moved to a file')
  await beginUse(disk, path, read)
  const reserve = reserveSize === 0 ? undefined : new Reserve(disk, path, reserveSize)
  await reserve?.open()
  const writer = await JournalWriter.open(disk, `${path}/journal`, endOf(journal), isLocked, reserve)
  return new FsStore(path, { ...options, disk }, writer, journal, read.manifest)
}

const endOf = ({ last, sequence, size }: Journal) => ({ last: last?.name, sequence, written: size })

/** A store in a folder. */
export class FsStore implements Store {
  readonly driver = 'fs'
  readonly isRemote = false
  readonly #path: string
  readonly #disk: Disk
  readonly #log: Logger
  readonly #writer: JournalWriter
  readonly #partitions: Partitions
  readonly #compaction: Compaction
  readonly #leases = new CommitLeases()
  readonly #watchers = new Watchers()
  /** partition → the sequence of its checkpoint */
  readonly #checkpoints: Map<string, number>
  readonly #metrics: FolderMetrics

  constructor(
    path: string,
    { disk, log, compactAt = COMPACT_AT, cacheBytes = defaultCacheBytes() }: FsStoreOptions & { disk: Disk },
    writer: JournalWriter,
    journal: Journal,
    { start, checkpoints: checkpointsAtStart, tombstones }: Manifest,
  ) {
    this.#path = path
    this.#metrics = new FolderMetrics(disk, path)
    this.#disk = disk
    this.#log = log
    this.#writer = writer
    const checkpoints = new Map(checkpointsAtStart)
    this.#checkpoints = checkpoints
    const partitions = new Partitions({
      disk,
      folder: `${path}/records`,
      log,
      journal,
      manifest: { checkpoints, tombstones },
      journalEnd: () => writer.sequence,
      cacheBytes,
      isNeeded: (name) => this.#leases.othersIn(name, undefined) !== undefined,
      save: (name, partition) => this.#compaction.save(name, partition),
    })
    this.#partitions = partitions
    this.#compaction = new Compaction({ disk, path, log, compactAt, writer, partitions, metrics: this.#metrics, start, checkpoints })
    // Otherwise frequent restarts would let the journal grow without limit.
    this.#compaction.startIfDue()
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    const loaded = this.#partitions.peek(partition)
    if (loaded !== undefined) return loaded.state.read(request)
    return this.#partitions.use(partition, (found) => (found?.state ?? EMPTY).read(request))
  }

  commit(partition: string, requested: Change): Promise<'done' | 'conflict'> {
    return this.#partitions.use(partition, async (found) => {
      // After it was loaded: a lease may begin meanwhile.
      await this.#leases.pass(partition, requested.lease)
      if (this.#writer.broken !== undefined) throw this.#writer.broken
      const loaded = found ?? this.#partitions.add(partition)
      const { state, pending } = loaded
      if (!state.meets(requested.expect, pending)) {
        // The conflict may be with a pending change. It must be visible to the caller's next attempt.
        if (!pending.empty) await this.#writer.flush()
        return 'conflict'
      }
      const change = numberAppended(requested, (index) => pending.lastAdded(index) ?? state.indexes.get(index)?.last)
      pending.stage(change)
      const { revision, onlyRemoves, put, remove, indexes } = change
      try {
        await this.#writer.append({ partition, revision, onlyRemoves, put, remove, indexes }, () => {
          pending.settle(change)
          state.apply(change)
          this.#partitions.changed(loaded)
          this.#compaction.changed(partition)
          this.#watchers.notify(partition, requested)
        })
      } catch (error) {
        pending.settle(change)
        throw error
      }
      this.#compaction.startIfDue()
      return 'done'
    })
  }

  takeLease(partition: string): Promise<CommitLease> {
    return this.#leases.take(partition)
  }

  dump(partition: string): AsyncGenerator<(readonly [string, Value])[]> {
    return this.#partitions.read(partition, (state) => state.dump())
  }

  async partitions(): Promise<readonly string[]> {
    return this.#partitions.names
  }

  scan(partition: string): AsyncGenerator<(readonly [string, Stored])[]> {
    return this.#partitions.read(partition, (state) => state.scan())
  }

  indexNames(partition: string): AsyncGenerator<string[]> {
    return this.#partitions.read(partition, (state) => state.indexNames())
  }

  hold<T>(partition: string, work: () => Promise<T>): Promise<T> {
    return this.#partitions.hold(partition, work)
  }

  mayHaveTombstoneBefore(partition: string, entry: string): boolean {
    return this.#partitions.mayHaveTombstoneBefore(partition, entry)
  }

  /** Reads all checkpoints again: a disk may have damaged one since it was loaded. */
  findDamage(): AsyncGenerator<DriverDamage[]> {
    return damagedCheckpoints(this.#disk, `${this.#path}/records`, [...this.#checkpoints.keys()])
  }

  watch(partition: string, index: string, listener: () => void): () => void {
    return this.#watchers.watch(partition, index, listener)
  }

  async ready(): Promise<void> {
    await this.#writer.requireWritable()
  }

  async metrics(): Promise<StoreMetrics> {
    return { ...(await this.#metrics.read()), ...this.#partitions.metrics() }
  }

  /** The partitions that were found damaged. The others work. */
  damaged(): readonly string[] {
    return this.#partitions.damaged
  }

  async close(): Promise<void> {
    // Nothing may be written from here on, except the mark of the shutdown: another process may take over the folder.
    await this.#writer.end()
    await this.#compaction.settled()
    await this.#partitions.settled()
    await this.#compaction.writeManifest({ closed: true }).catch((error: unknown) => {
      if (error !== this.#writer.broken)
        this.#log.warn({ err: error }, 'the shutdown could not be recorded; the next start takes it for a crash')
    })
    await this.#writer.close()
  }

  /** Writes checkpoints of changed partitions and removes the journal files that they replace (see {@link Compaction.run}). */
  compact(): Promise<void> {
    return this.#compaction.run()
  }
}

/** Codes of errors of a file system that cannot be written to, or not by this user. */
const CODES = new Set<string | undefined>(['EROFS', 'EACCES', 'EPERM'])

/** Whether an error means that a folder cannot be written to. */
export function isReadOnlyError(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code)
}

/**
 * Opens a store in a folder for reading only: nothing in the folder is changed. Its content is the same as that of
 * `openFsStore`, and so are the checks. Every commit fails.
 * @throws {UnusableFolder} {@link StorageDamaged}
 */
export async function openFsStoreForReading(path: string, options: Pick<FsStoreOptions, 'log' | 'disk' | 'cacheBytes'>): Promise<FsStore> {
  const { disk = realDisk } = options
  if (!(await checkFolder(path, disk))) throw new UnusableFolder(`${path} contains no Lanekeeper data`)
  const journal = await readJournal(disk, `${path}/journal`)
  const { manifest } = await readManifest(disk, path, journal)
  const reason = new StorageUnavailable(`${path} cannot be written to; it is opened for reading only`)
  const writer = JournalWriter.refusing(disk, `${path}/journal`, endOf(journal), reason)
  return new FsStore(path, { ...options, disk }, writer, journal, manifest)
}
