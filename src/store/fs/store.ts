import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { numberAppended } from '../appended.ts'
import { CommitLeases, type CommitLease } from '../commit-leases.ts'
import { entriesOf } from '../indexing.ts'
import { GLOBAL } from '../keys.ts'
import {
  StorageUnavailable,
  type Change,
  type DriverDamage,
  type ReadRequest,
  type Snapshot,
  type Store,
  type Stored,
  type StoreMetrics,
  type Value,
} from '../port.ts'
import { Watchers } from '../watchers.ts'
import { CommitQueue, DiskFull } from './commit-queue.ts'
import { realDisk } from './disk.ts'
import { checkFolder, checkLog, createFolder, databaseIn, sizeOf, UnusableFolder } from './folder.ts'
import { defaultCacheBytes, Partitions, type LoadedPartition } from './partitions.ts'
import type { RowChange } from './record-writer.ts'
import { findDamage, readPartitions } from './rows.ts'
import { openDatabase, type DatabaseSync } from './sqlite.ts'
import { openWriter, type OpenWriter, type Writer } from './writer.ts'

/** The size of the log that leads to a checkpoint, in bytes. */
const CHECKPOINT_AT = 16 * 1024 * 1024

export interface FsStoreOptions extends Pick<Store, 'derived'> {
  readonly log: Logger
  /** the memory that loaded partitions may take, in bytes; half of the heap of the process by default */
  readonly cacheBytes?: number | undefined
  /** the size of the log that leads to a checkpoint, in bytes; 16 MiB by default */
  readonly checkpointAt?: number
  /** the space that is kept for changes that only revoke or remove, in bytes; none by default */
  readonly reserveSize?: number
  /** is called once, when another process may have the folder: nothing is answered from then on */
  readonly onLost?: ((reason: StorageUnavailable) => void) | undefined
  /** opens what writes; another one is for tests only */
  readonly openWriter?: OpenWriter
  /** the index entries of a record; functions other than the ones in `indexing.ts` are for tests only */
  readonly entriesOf?: typeof entriesOf
}

/**
 * Opens a store in a folder: records in a SQLite database; the partitions in use are also in memory, with their indexes. A partition is
 * loaded when it is used, and released when others need the memory. A commit is synced to the disk before it is acknowledged or visible, so
 * it survives a crash of the process or the machine. One process per folder: the caller holds its lock.
 * @throws {UnusableFolder} when the folder belongs to another program or has another format
 * @throws {StorageDamaged} when the folder is not as a shutdown or a crash leaves it
 */
export async function openFsStore(path: string, options: FsStoreOptions): Promise<FsStore> {
  const { log, checkpointAt = CHECKPOINT_AT, reserveSize = 0, openWriter: open = openWriter } = options
  if (!(await checkFolder(path))) await createFolder(path)
  if (checkLog(path).isTorn)
    log.warn('the log of records.db has an incomplete transaction at its end; as a crash leaves it, that was not acknowledged')
  const writer = await open(path, { checkpointAt, reserveSize })
  try {
    return new FsStore(path, options, openDatabase(databaseIn(path), { readOnly: true }), writer)
  } catch (error) {
    await writer.close()
    throw error
  }
}

/**
 * Opens a store in a folder for reading only: nothing in the folder is changed. Every commit fails. If the folder has a log, which SQLite
 * can only take over by writing, a copy of both is read.
 * @throws {UnusableFolder} {@link StorageDamaged}
 */
export async function openFsStoreForReading(path: string, options: FsStoreOptions): Promise<FsStore> {
  if (!(await checkFolder(path))) throw new UnusableFolder(`${path} contains no Lanekeeper data`)
  const file = databaseIn(path)
  const copy = checkLog(path).exists || existsSync(`${file}-journal`) ? await copyOf(file) : undefined
  const database = copy === undefined ? openDatabase(file, { immutable: true }) : openDatabase(databaseIn(copy))
  const close = async (): Promise<void> => {
    if (database.isOpen) database.close()
    if (copy !== undefined) await rm(copy, { recursive: true })
  }
  try {
    const names = readPartitions(database, path).map(({ name }) => name)
    const writer: Writer = { ...NO_WRITER, names, findDamage: async () => findDamage(database, path), close }
    return new FsStore(path, options, database, writer, new StorageUnavailable(`${path} is opened for reading only`))
  } catch (error) {
    await close()
    throw error
  }
}

/** Copies a database with its log. @returns the new folder, which only this user can read */
async function copyOf(file: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
  for (const suffix of ['', '-wal', '-journal']) if (existsSync(file + suffix)) await copyFile(file + suffix, databaseIn(copy) + suffix)
  return copy
}

/** For a store that refuses everything itself. */
const NO_WRITER = {
  counts: { transactions: 0, rows: 0, checkpoints: 0, checkpointFailures: 0, checkpointSeconds: 0 },
  write: async () => ({ failed: 'it is opened for reading only' }),
  hasSpace: async () => false,
}

/** A store in a folder. */
export class FsStore implements Store {
  readonly driver = 'fs'
  readonly isRemote = false
  readonly recall = (): undefined => undefined
  readonly derived: Store['derived']
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #writer: Writer
  readonly #queue: CommitQueue
  readonly #partitions: Partitions
  readonly #leases = new CommitLeases()
  readonly #watchers = new Watchers()
  readonly #onLost: ((reason: StorageUnavailable) => void) | undefined
  /** why nothing is answered any more */
  #lost: StorageUnavailable | undefined

  /** @param refusal why nothing can be written */
  constructor(
    path: string,
    { log, derived, cacheBytes = defaultCacheBytes(), entriesOf: entries = entriesOf, onLost }: FsStoreOptions,
    database: DatabaseSync,
    writer: Writer,
    refusal?: StorageUnavailable,
  ) {
    this.derived = derived
    this.#path = path
    this.#onLost = onLost
    this.#database = database
    this.#writer = writer
    this.#queue = new CommitQueue(writer, () => this.loseTo('another program has changed or replaced records.db'))
    if (refusal !== undefined) this.#queue.refuse(refusal)
    const isNeeded = (name: string) => this.#leases.othersIn(name, undefined) !== undefined
    this.#partitions = new Partitions({ path, database, log, names: writer.names, cacheBytes, isNeeded, entriesOf: entries })
  }

  /** Answers nothing any more: another process may have the folder, and a token that was revoked there would be accepted here. */
  loseTo(reason: string): void {
    if (this.#lost !== undefined) return
    this.#lost = new StorageUnavailable(`${reason}; nothing is read or written until a restart`)
    this.#queue.refuse(this.#lost)
    this.#onLost?.(this.#lost)
  }

  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    if (this.#lost !== undefined) throw this.#lost
    const loaded = this.#partitions.peek(partition)
    if (loaded !== undefined) return loaded.state.read(request)
    const { ranges, counts, expect } = request
    const needsIndexes = ranges.length > 0 || counts.length > 0 || expect.indexes.size > 0
    return this.#partitions[needsIndexes ? 'use' : 'useRecords'](partition, ({ state }) => state.read(request))
  }

  commit(partition: string, change: Change): Promise<'done' | 'conflict'> {
    return this.#partitions.use(partition, async (loaded) => {
      try {
        return await this.#commit(partition, loaded, change)
      } catch (error) {
        // It may have failed together with others. Alone, it may use what is kept for it.
        if (!(error instanceof DiskFull) || change.onlyRemoves !== true) throw error
        return this.#commit(partition, loaded, change)
      }
    })
  }

  async #commit(partition: string, loaded: LoadedPartition, requested: Change): Promise<'done' | 'conflict'> {
    // After it was loaded: a lease may begin meanwhile.
    await this.#leases.pass(partition, requested.lease)
    if (this.#queue.broken !== undefined) throw this.#queue.broken
    const { state, pending } = loaded
    if (!state.meets(requested.expect, pending)) {
      // The conflict may be with a pending change. It must be visible to the caller's next attempt.
      if (!pending.empty) await this.#queue.flush()
      return 'conflict'
    }
    const change = numberAppended(requested, (index) => pending.lastAdded(index) ?? state.indexes.get(index)?.last)
    const rows = rowsOf(partition, loaded, change)
    pending.stage(change)
    await this.#queue.append(rows, change.onlyRemoves === true, (error) => {
      pending.settle(change)
      if (error === undefined) state.apply(change)
      forgetNumbers(loaded, change)
      if (error !== undefined) return
      this.#partitions.changed(partition, loaded)
      this.#watchers.notify(partition, requested)
    })
    return 'done'
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

  /** Reads all rows again: a disk may have damaged one since it was loaded. */
  async *findDamage(): AsyncGenerator<DriverDamage[]> {
    yield (await this.#writer.findDamage()).map(({ partition = GLOBAL, message }) => ({ partition, file: message }))
  }

  watch(partition: string, index: string, listener: () => void): () => void {
    return this.#watchers.watch(partition, index, listener)
  }

  async ready(): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost
    if (this.#queue.broken !== undefined) throw this.#queue.broken
    const hasSpace = await this.#writer.hasSpace().catch((cause: unknown) => {
      throw new StorageUnavailable('records cannot be written; nothing is written until a restart', { cause })
    })
    if (!hasSpace) throw new DiskFull('the disk is full')
  }

  async metrics(): Promise<StoreMetrics> {
    const file = databaseIn(this.#path)
    const { transactions, rows, checkpoints, checkpointFailures, checkpointSeconds } = this.#writer.counts
    return {
      databaseBytes: sizeOf(file),
      logBytes: sizeOf(`${file}-wal`),
      transactions,
      rowsWritten: rows,
      checkpoints,
      checkpointFailures,
      checkpointSeconds,
      freeBytes: await realDisk.freeBytes(this.#path),
      ...this.#partitions.metrics(),
    }
  }

  /** The partitions that were found damaged. The others work. */
  damaged(): readonly string[] {
    return this.#partitions.damaged
  }

  async close(): Promise<void> {
    await this.#queue.flush()
    this.#queue.refuse(new StorageUnavailable('the store is closed'))
    await this.#queue.flush()
    // The last one to close the file makes a checkpoint: the writer.
    this.#database.close()
    await this.#writer.close()
  }
}

/** The rows of a change. New records get numbers, in the order of their creation. */
function rowsOf(partition: string, loaded: LoadedPartition, { revision, put, remove }: Change): RowChange {
  const { numbers, pending, state } = loaded
  const insert: RowChange['insert'][number][] = []
  const update: RowChange['insert'][number][] = []
  for (const [key, value] of put) {
    const known = numbers.get(key)
    const number = known ?? loaded.nextNumber++
    numbers.set(key, number)
    // One that a pending change removes is a new row again.
    const exists = known !== undefined && pending.record(key) !== null
    ;(exists ? update : insert).push([number, key, JSON.stringify(value)])
  }
  const removed: number[] = []
  for (const key of remove) {
    const stored = pending.record(key)
    if (stored !== null && (stored !== undefined || state.records.has(key))) removed.push(numbers.get(key)!)
  }
  return { partition, revision, insert, update, remove: removed }
}

/** Forgets the numbers of records that are not there any more, or that could not be created. */
function forgetNumbers({ numbers, pending, state }: LoadedPartition, { put, remove }: Change): void {
  for (const key of [...put.keys(), ...remove]) if (!state.records.has(key) && pending.record(key) === undefined) numbers.delete(key)
}
