import type { Logger } from 'pino'
import { realDisk, replaceFile, type Disk } from './fs/disk.ts'
import { readCheckpoint, writeCheckpoint, type MapPartition } from './fs/checkpoint.ts'
import { readJournal, type Entry } from './fs/journal.ts'
import { PendingChanges } from './fs/pending.ts'
import { JournalWriter } from './fs/writer.ts'
import { Partition } from './partition.ts'
import { Unavailable, type Change, type ReadRequest, type Snapshot, type Store } from './port.ts'

/** The layout of the folder, and of every file in it. A folder of a newer one is refused. */
const FORMAT = 1
/** So much journal is a reason to write checkpoints, in bytes. */
const COMPACT_AT = 16 * 1024 * 1024

export interface FsStoreOptions {
  readonly log: Logger
  readonly disk?: Disk
  readonly compactAt?: number
}

/** The folder cannot be used as it is. Its message says why. */
export class UnusableFolder extends Error {
  override readonly name = 'UnusableFolder'
}

interface Loaded {
  readonly state: MapPartition
  readonly pending: PendingChanges
}

/**
 * Records in a folder. What is committed is in the journal, synced, before anyone is told or shown; checkpoints
 * keep the journal short. A partition is read into memory when it is asked for first. One process per folder.
 * @throws {UnusableFolder} where it is another program's, or of a newer format
 * @throws {Damaged} where something else than a crash has changed it
 */
export async function openFsStore(path: string, { log, disk = realDisk, compactAt = COMPACT_AT }: FsStoreOptions): Promise<FsStore> {
  const journal = `${path}/journal`
  const records = `${path}/records`
  for (const folder of [path, journal, records]) await disk.makeFolder(folder)
  await checkFormat(disk, path)
  const { frames, last } = await readJournal(disk, journal)
  const backlog = new Map<string, { sequence: number; entry: Entry }[]>()
  for (const { sequence, entries } of frames) {
    for (const entry of entries)
      (backlog.get(entry.partition) ?? backlog.set(entry.partition, []).get(entry.partition)!).push({ sequence, entry })
  }
  // A file is named by its first frame, so an empty one tells where the numbers go on.
  const sequence = frames.at(-1)?.sequence ?? (last === undefined ? 0 : Number.parseInt(last, 10) - 1)
  const writer = await JournalWriter.open(disk, journal, last, sequence)
  return new FsStore(path, disk, log, compactAt, writer, backlog)
}

async function checkFormat(disk: Disk, path: string): Promise<void> {
  const found = await disk.read(`${path}/format.json`)
  if (found === undefined) {
    const foreign = (await disk.list(path)).filter((name) => !['journal', 'records', 'bytes', 'run', '.format.json.tmp'].includes(name))
    if (foreign.length > 0)
      throw new UnusableFolder(`${path} is not empty, and holds no Lanekeeper data: ${foreign.slice(0, 3).join(', ')}`)
    return replaceFile(disk, path, 'format.json', [Buffer.from(`${JSON.stringify({ lanekeeper: FORMAT })}\n`)])
  }
  const { lanekeeper } = JSON.parse(found.toString()) as { lanekeeper?: number }
  if (lanekeeper !== FORMAT) throw new UnusableFolder(`${path} has format ${lanekeeper}; this version of Lanekeeper knows format ${FORMAT}`)
}

/** A store in a folder. */
export class FsStore implements Store {
  readonly driver = 'fs'
  readonly #path: string
  readonly #disk: Disk
  readonly #log: Logger
  readonly #compactAt: number
  readonly #writer: JournalWriter
  /** what the journal has of partitions that nobody asked for yet */
  readonly #backlog: Map<string, { sequence: number; entry: Entry }[]>
  readonly #partitions = new Map<string, Loaded>()
  readonly #loading = new Map<string, Promise<Loaded | undefined>>()
  /** partitions with changes that are in the journal alone */
  #dirty: Set<string>
  #compacting: Promise<void> | undefined

  constructor(
    path: string,
    disk: Disk,
    log: Logger,
    compactAt: number,
    writer: JournalWriter,
    backlog: Map<string, { sequence: number; entry: Entry }[]>,
  ) {
    this.#path = path
    this.#disk = disk
    this.#log = log
    this.#compactAt = compactAt
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
    if (this.#writer.written > this.#compactAt) void this.compact()
    return 'done'
  }

  /** Writes checkpoints of what changed and lets go of the journal before them. What fails is tried again later. */
  compact(): Promise<void> {
    this.#compacting ??= this.#compact()
      .catch((error: unknown) => this.#log.error({ err: error }, 'the journal could not be compacted; it goes on growing'))
      .finally(() => (this.#compacting = undefined))
    return this.#compacting
  }

  /** Whether changes can be written. @throws {Unavailable} where they cannot */
  async ready(): Promise<void> {
    if (this.#writer.broken !== undefined) throw this.#writer.broken
  }

  async close(): Promise<void> {
    await this.#compacting
    await this.#writer.close()
  }

  async #compact(): Promise<void> {
    const { current } = this.#writer
    const sequence = await this.#writer.rotate()
    const dirty = this.#dirty
    this.#dirty = new Set()
    try {
      for (const name of dirty) {
        const { state } = (await this.#load(name))!
        await writeCheckpoint(this.#disk, `${this.#path}/records`, name, state, sequence)
      }
      const folder = `${this.#path}/journal`
      for (const name of await this.#disk.list(folder))
        if (name <= current && name !== this.#writer.current) await this.#disk.remove(`${folder}/${name}`)
      await this.#disk.syncFolder(folder)
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
      const backlog = this.#backlog.get(partition)
      if (checkpoint === undefined && backlog === undefined) return undefined
      const loaded = this.#begin(partition, checkpoint?.state)
      for (const { sequence, entry } of backlog ?? []) if (sequence > (checkpoint?.sequence ?? 0)) loaded.state.apply(entry)
      this.#backlog.delete(partition)
      return loaded
    } catch (error) {
      this.#log.error({ err: error, partition }, 'records could not be read')
      throw new Unavailable('records could not be read', { cause: error })
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
