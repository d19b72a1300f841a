import { StorageUnavailable } from '../port.ts'
import { assertSynced, SyncFailed, type Disk, type OpenFile } from './disk.ts'
import { encodeFrame, journalName, type Entry } from './journal.ts'
import type { Reserve } from './reserve.ts'

/** The end of an existing journal. */
export interface JournalEnd {
  /** the name of the last file; undefined without files */
  readonly last: string | undefined
  /** the sequence of the last frame */
  readonly sequence: number
  /** the size of all files, in bytes */
  readonly written: number
}

/** The file that the writer appends to. */
interface CurrentFile {
  readonly file: OpenFile
  readonly name: string
  size: number
}

/** What the writer of the journal has to do: write a change, or only wait or look. */
interface QueueItem {
  /** absent from a flush and a probe, which write nothing */
  readonly entry?: Entry
  /** asks whether the disk has space */
  readonly probe?: boolean
  /** called synchronously in the order of the journal */
  readonly done: () => void
  readonly failed: (error: StorageUnavailable) => void
}

/** Maximum number of changes per frame. */
const MAX_CHANGES_PER_FRAME = 1000

/**
 * Appends to the journal. One frame is written and synced at a time; changes that arrive meanwhile are batched into
 * the next frame. All further writes are refused after a failed sync, because the content of the disk is unknown then, and
 * when the journal does not belong to this process any more, which is checked before and after each frame.
 */
export class JournalWriter {
  readonly #disk: Disk
  readonly #folder: string
  /** the current file; undefined: there is none to write to */
  #open: CurrentFile | undefined
  #sequence: number
  #queue: QueueItem[] = []
  /** a requested rotation; it runs between two frames, so constant load cannot delay it */
  #rotation: ((rotated: Promise<number>) => void) | undefined
  #running = false
  /** why nothing can be written until a restart */
  #failure: StorageUnavailable | undefined
  #ended: StorageUnavailable | undefined
  readonly #isLocked: () => Promise<boolean>
  readonly #reserve: Reserve | undefined
  /** whether the disk had no space for the last change */
  #isFull = false
  /** bytes that were written since the last rotation */
  written: number
  /** the last frame on the disk, as soon as all of its changes are reported as done */
  sequence: number

  private constructor(
    disk: Disk,
    folder: string,
    open: CurrentFile | undefined,
    { sequence, written }: JournalEnd,
    isLocked: () => Promise<boolean>,
    reserve: Reserve | undefined,
  ) {
    this.#isLocked = isLocked
    this.#reserve = reserve
    this.#disk = disk
    this.#folder = folder
    this.#open = open
    this.#sequence = sequence
    this.sequence = sequence
    this.written = written
  }

  /**
   * Opens a journal for appending at its end.
   * @param isLocked whether this process still has the lock of the folder
   * @param reserve space for changes that only revoke or remove
   */
  static async open(
    disk: Disk,
    folder: string,
    end: JournalEnd,
    isLocked: () => Promise<boolean> = async () => true,
    reserve?: Reserve,
  ): Promise<JournalWriter> {
    const name = end.last ?? journalName(end.sequence + 1)
    const file = await disk.append(`${folder}/${name}`)
    try {
      await assertSynced(disk.syncFolder(folder))
      return new JournalWriter(disk, folder, { file, name, size: await file.size() }, end, isLocked, reserve)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** A writer that refuses everything, for a journal that is only read. */
  static refusing(disk: Disk, folder: string, end: JournalEnd, reason: StorageUnavailable): JournalWriter {
    const writer = new JournalWriter(disk, folder, undefined, end, async () => false, undefined)
    writer.#failure = reason
    return writer
  }

  /** The reason why nothing can be written any more; undefined while writing is possible. */
  get broken(): StorageUnavailable | undefined {
    return this.#failure ?? this.#ended
  }

  /**
   * Writes a change. Calls `done` when it is on the disk.
   * @throws {StorageUnavailable} when it was not written, or when that is unknown
   */
  append(entry: Entry, done: () => void): Promise<void> {
    return new Promise((resolve, reject) => this.#enqueue({ entry, done: () => (done(), resolve()), failed: reject }))
  }

  /** Waits until all changes that are queued now are written or have failed. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#enqueue({ done: resolve, failed: () => resolve() }))
  }

  /**
   * Checks that a change can be written.
   * @throws {StorageUnavailable} when the disk is full, or writing is refused until a restart
   */
  async requireWritable(): Promise<void> {
    if (this.broken !== undefined) throw this.broken
    if (this.#isFull || this.#reserve?.isFull === false)
      await new Promise<void>((resolve, reject) => this.#enqueue({ probe: true, done: resolve, failed: reject }))
  }

  /**
   * Begins a new file.
   * @returns the sequence of the last frame in the files before it
   */
  rotate(): Promise<number> {
    return new Promise((resolve) => {
      this.#rotation = resolve
      if (!this.#running) void this.#run()
    })
  }

  /** Refuses all further writes because a sync has failed. */
  fail(cause: unknown): StorageUnavailable {
    return this.#refuse('the disk failed to sync written data; nothing is written until a restart', cause)
  }

  /**
   * Checks that this process still writes to the journal of the folder. When it has lost the lock, or its file was
   * removed or replaced, another process may use the folder. Then all further writes are refused.
   * @throws {StorageUnavailable} also when writing is refused for another reason
   */
  async requireOwner(): Promise<void> {
    const isOwner = async () => (await this.#isLocked()) && (await this.#open!.file.isAt(`${this.#folder}/${this.#open!.name}`))
    const message = 'the journal was removed or replaced; nothing is written until a restart'
    if (this.#failure === undefined)
      await isOwner().then(
        (owned) => owned || this.#refuse(message),
        (error: unknown) => this.#refuse(message, error),
      )
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Refuses further changes, and waits until the queued ones are written. */
  async end(): Promise<void> {
    await this.flush()
    this.#ended ??= new StorageUnavailable('the store is closed')
    await this.flush()
  }

  async close(): Promise<void> {
    await this.end()
    await this.#open?.file.close()
  }

  #refuse(message: string, cause?: unknown): StorageUnavailable {
    return (this.#failure ??= new StorageUnavailable(message, { cause }))
  }

  #enqueue(item: QueueItem): void {
    this.#queue.push(item)
    if (!this.#running) void this.#run()
  }

  /** Processes the queue and rotations, one at a time. Never throws. */
  async #run(): Promise<void> {
    this.#running = true
    while (this.#queue.length > 0 || this.#rotation !== undefined) {
      if (this.#rotation !== undefined) {
        const rotated = this.#rotate()
        this.#rotation(rotated)
        this.#rotation = undefined
        await rotated.catch(() => undefined)
      }
      const batch = this.#queue.splice(0, MAX_CHANGES_PER_FRAME)
      const error = await this.#attempt(batch)
      const reducing = error !== undefined && this.#isFull ? batch.filter(({ entry }) => entry?.onlyRemoves) : []
      const others = batch.filter((item) => !reducing.includes(item))
      settle(others, error)
      if (reducing.length > 0) settle(reducing, await this.#writeFromReserve(reducing, error!))
      this.sequence = this.#sequence
    }
    this.#running = false
  }

  /** Writes all changes of a batch in one frame. @returns why they were not written */
  async #attempt(batch: readonly QueueItem[]): Promise<StorageUnavailable | undefined> {
    const entries = entriesOf(batch)
    const isProbe = batch.some(({ probe }) => probe)
    if (entries.length === 0 && !isProbe) return undefined
    if (this.broken !== undefined) return this.broken
    // Otherwise other changes would use up what the reserve has given up.
    if (this.#reserve?.isFull === false || (isProbe && this.#isFull)) {
      const error = await this.#restoreReserve()
      if (error !== undefined) return error
    }
    return entries.length === 0 ? undefined : this.#write(entries)
  }

  async #restoreReserve(): Promise<StorageUnavailable | undefined> {
    try {
      await this.#reserve?.restore()
      this.#isFull = false
      return undefined
    } catch (error) {
      if (error instanceof SyncFailed) return this.fail(error)
      this.#isFull = true
      return new StorageUnavailable('the disk is full', { cause: error })
    }
  }

  async #writeFromReserve(batch: readonly QueueItem[], full: StorageUnavailable): Promise<StorageUnavailable | undefined> {
    let error: StorageUnavailable | undefined = full
    try {
      while (error !== undefined && this.broken === undefined && (await this.#reserve?.release()))
        error = await this.#write(entriesOf(batch))
      return error
    } catch (releaseError) {
      return this.fail(releaseError)
    }
  }

  async #rotate(): Promise<number> {
    if (this.broken !== undefined) throw this.broken
    const name = journalName(this.#sequence + 1)
    if (name !== this.#open!.name) {
      const file = await this.#disk.append(`${this.#folder}/${name}`)
      try {
        await assertSynced(this.#disk.syncFolder(this.#folder))
      } catch (error) {
        // The name of the new file may not survive a crash, and its frames would be lost with it.
        this.fail(error)
        await file.close()
        throw error
      }
      const previous = this.#open!
      this.#open = { file, name, size: 0 }
      await previous.file.close()
    }
    this.written = 0
    return this.#sequence
  }

  async #write(entries: readonly Entry[]): Promise<StorageUnavailable | undefined> {
    let frame: Buffer
    try {
      frame = encodeFrame(this.#sequence + 1, entries)
    } catch (cause) {
      return new StorageUnavailable('the change could not be encoded', { cause })
    }
    try {
      await this.requireOwner()
    } catch (error) {
      return error as StorageUnavailable
    }
    try {
      await this.#open!.file.write(frame)
    } catch (cause) {
      return this.#undo(cause)
    }
    try {
      await assertSynced(this.#open!.file.sync())
      // Another process that has taken over since may have read the journal before this frame.
      await this.requireOwner()
    } catch (cause) {
      const { message } = cause instanceof StorageUnavailable ? cause : this.fail(cause)
      return new StorageUnavailable(message, { outcomeKnown: false, cause })
    }
    this.#isFull = false
    this.#sequence++
    this.#open!.size += frame.byteLength
    this.written += frame.byteLength
    return undefined
  }

  /** Cuts off a partly written frame, for example of a full disk. Nothing was changed then. */
  async #undo(cause: unknown): Promise<StorageUnavailable> {
    try {
      await this.#open!.file.truncate(this.#open!.size)
      await assertSynced(this.#open!.file.sync())
      this.#isFull = (cause as NodeJS.ErrnoException).code === 'ENOSPC'
      return new StorageUnavailable('the journal could not be written', { cause })
    } catch (truncateError) {
      return new StorageUnavailable(this.fail(truncateError).message, { outcomeKnown: false, cause })
    }
  }
}

/** The changes of a batch. */
function entriesOf(batch: readonly QueueItem[]): Entry[] {
  return batch.flatMap(({ entry }) => entry ?? [])
}

/** Reports the outcome of a batch to those who wait for it. */
function settle(batch: readonly QueueItem[], error: StorageUnavailable | undefined): void {
  for (const item of batch) {
    if (error === undefined) item.done()
    else item.failed(error)
  }
}
