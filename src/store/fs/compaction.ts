import type { Logger } from 'pino'
import { writeCheckpoint } from './checkpoint.ts'
import { assertSynced, SyncFailed, type Disk } from './disk.ts'
import { firstFrameOf } from './journal.ts'
import type { LoadedPartition } from './loaded-partitions.ts'
import { writeManifest } from './manifest.ts'
import { UnreadablePartition, type Partitions } from './partitions.ts'
import type { JournalWriter } from './writer.ts'
import type { StoreMetrics } from '../port.ts'

/** What the metrics say about a folder: its journal, its checkpoints and the space of its disk. */
export class FolderMetrics {
  readonly #disk: Disk
  readonly #path: string
  readonly #now: () => number
  #checkpointAt: number
  #failures = 0

  /** @param now a monotonic clock, in milliseconds */
  constructor(disk: Disk, path: string, now = (): number => performance.now()) {
    this.#disk = disk
    this.#path = path
    this.#now = now
    this.#checkpointAt = now()
  }

  /** The journal was replaced by checkpoints. */
  succeeded(): void {
    this.#checkpointAt = this.#now()
  }

  /** The journal could not be replaced by checkpoints. */
  failed(): void {
    this.#failures++
  }

  async read(): Promise<StoreMetrics> {
    const folder = `${this.#path}/journal`
    const names = await this.#disk.list(folder)
    const sizes = await Promise.all(names.map((name) => this.#disk.sizeOf(`${folder}/${name}`)))
    return {
      journalBytes: sizes.reduce((sum, size) => sum + size, 0),
      checkpointAgeSeconds: (this.#now() - this.#checkpointAt) / 1000,
      checkpointFailures: this.#failures,
      freeBytes: await this.#disk.freeBytes(this.#path),
    }
  }
}

/** After a large compaction the next one may be triggered later: at most at this multiple of `compactAt`. */
const MAX_FACTOR = 16

export interface CompactionOptions {
  readonly disk: Disk
  readonly path: string
  readonly log: Logger
  /** the journal size that triggers a compaction, in bytes */
  readonly compactAt: number
  readonly writer: JournalWriter
  readonly partitions: Partitions
  readonly metrics: FolderMetrics
  /** the first frame that is not in a checkpoint */
  readonly start: number
  /** partition → the sequence of its checkpoint, or of an earlier one; kept up to date */
  readonly checkpoints: Map<string, number>
}

/**
 * Keeps the journal of a folder short: it writes checkpoints of changed partitions, and then removes the journal files that
 * they replace. Also writes the checkpoint of a single partition, before it is released from memory.
 */
export class Compaction {
  readonly #options: CompactionOptions
  /** the first frame that is not in a checkpoint */
  #start: number
  /** the journal size that triggers the next compaction, in bytes */
  #threshold: number
  /** partitions with changes that are not in their checkpoints */
  #dirty: Set<string>
  #running: Promise<void> | undefined
  /** the checkpoint of a single partition that is being written */
  #saving: Promise<void> | undefined

  constructor(options: CompactionOptions) {
    this.#options = options
    this.#start = options.start
    this.#threshold = options.compactAt
    this.#dirty = new Set(options.partitions.waiting)
  }

  /** Must be called when a change of a partition was applied. */
  changed(name: string): void {
    this.#dirty.add(name)
  }

  /** Begins a compaction if the journal is large enough. */
  startIfDue(): void {
    if (this.#options.writer.written > this.#threshold) void this.run()
  }

  /**
   * Writes checkpoints of changed partitions and removes the journal files that they replace. Logs a failure; later
   * commits trigger it again.
   */
  run(): Promise<void> {
    const { metrics, writer, log } = this.#options
    this.#running ??= this.#compact()
      .then(() => metrics.succeeded())
      .catch((error: unknown) => {
        metrics.failed()
        if (error instanceof SyncFailed) writer.fail(error)
        if (error !== writer.broken) log.error({ err: error }, 'the journal could not be compacted and keeps growing')
      })
      .finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Waits for the compaction that is running. */
  async settled(): Promise<void> {
    await this.#running
  }

  /**
   * Writes the checkpoint of one partition, one at a time. The journal keeps its changes until the next compaction. Marks the
   * partition as stuck and logs the reason if that fails.
   */
  save(name: string, partition: LoadedPartition): Promise<void> {
    this.#saving = this.#save(name, partition)
    return this.#saving
  }

  async #save(name: string, partition: LoadedPartition): Promise<void> {
    const { writer, log } = this.#options
    try {
      if (writer.broken !== undefined) throw writer.broken
      await this.#write(name, partition)
      if (!partition.isChanged) this.#dirty.delete(name)
    } catch (error) {
      partition.isStuck = true
      if (error instanceof SyncFailed) writer.fail(error)
      if (error !== writer.broken)
        log.error({ err: error, partition: name }, 'a checkpoint could not be written; its records stay in memory')
    }
  }

  async writeManifest(mark: { closed?: boolean } = {}): Promise<void> {
    const { disk, path, writer, checkpoints, partitions } = this.#options
    await writer.requireOwner()
    const manifest = { start: this.#start, sequence: writer.sequence, checkpoints, tombstones: partitions.firstTombstones() }
    await writeManifest(disk, path, manifest, mark)
  }

  async #compact(): Promise<void> {
    const { writer, compactAt } = this.#options
    const sequence = await writer.rotate()
    const dirty = this.#dirty
    this.#dirty = new Set()
    try {
      let written = 0
      let start = sequence + 1
      for (const name of dirty) {
        const bytes = await this.#writeIfReadable(name, sequence)
        if (typeof bytes === 'number') written += bytes
        else {
          start = Math.min(start, bytes.firstFrame)
          this.#dirty.add(name)
        }
      }
      this.#start = start
      // From here on, the start of the journal may be missing, and its checkpoints may not.
      await this.writeManifest()
      // At least as many bytes of journal as were just written: checkpoints then at most double the written bytes.
      this.#threshold = Math.min(Math.max(compactAt, written), compactAt * MAX_FACTOR)
      await this.#removeJournal(start)
    } catch (error) {
      for (const name of dirty) this.#dirty.add(name)
      throw error
    }
  }

  /**
   * Writes the checkpoint of a partition, unless it has one with all changes up to a frame.
   * @returns the number of bytes that were written. If it cannot be read, which is logged, the first frame that the journal must keep.
   */
  async #writeIfReadable(name: string, sequence: number): Promise<number | { firstFrame: number }> {
    const { partitions, checkpoints } = this.#options
    const firstFrame = partitions.firstWaiting(name)
    // All of its changes were written before it was released.
    if (!partitions.isLoaded(name) && firstFrame === undefined) return 0
    try {
      return await partitions.visit(name, async (partition) => {
        // Two at the same time would write to the same file. No other one begins while the partition is in use.
        await this.#saving
        return checkpoints.get(name)! >= sequence ? 0 : this.#write(name, partition!, sequence)
      })
    } catch (error) {
      if (!(error instanceof UnreadablePartition)) throw error
      return { firstFrame: firstFrame! }
    }
  }

  /**
   * Writes the checkpoint of a partition.
   * @param included the last frame whose changes it has in any case; by default the last one of the journal
   * @returns its size, in bytes
   */
  async #write(name: string, partition: LoadedPartition, included?: number): Promise<number> {
    const { disk, path, writer, partitions, checkpoints } = this.#options
    await writer.requireOwner()
    const { changes } = partition
    const sequence = included ?? writer.sequence
    const size = await writeCheckpoint(disk, `${path}/records`, name, partition.state, sequence, () => writer.sequence)
    checkpoints.set(name, sequence)
    partitions.saved(name, partition, changes, size)
    return size
  }

  /** Removes the journal files whose frames are all before `start`. */
  async #removeJournal(start: number): Promise<void> {
    const { disk, path } = this.#options
    const folder = `${path}/journal`
    const names = (await disk.list(folder)).filter((name) => firstFrameOf(name) !== undefined)
    for (const [i, name] of names.entries()) {
      // The current file is the last one.
      const next = names[i + 1]
      if (next === undefined || firstFrameOf(next)! > start) return
      await disk.remove(`${folder}/${name}`)
      // Synced after each file: otherwise a crash could bring back an older file without a newer one, which is a gap.
      await assertSynced(disk.syncFolder(folder))
    }
  }
}
