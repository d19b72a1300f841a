import { StorageUnavailable } from '../port.ts'
import { assertSynced, type Disk, type OpenFile } from './disk.ts'
import { encodeFrame, journalName, type Entry } from './journal.ts'

interface Waiting {
  /** none where somebody only waits for those before */
  readonly entry: Entry | undefined
  /** called in the order of the journal, before anything else can happen */
  readonly done: () => void
  readonly failed: (error: StorageUnavailable) => void
}

/** Where the journal ends that is there already. */
export interface Ending {
  /** the last file, if any */
  readonly last: string | undefined
  /** of the last frame */
  readonly sequence: number
  /** bytes of all files */
  readonly written: number
}

/** So many changes go into one frame at most. */
const PER_FRAME = 1000

/**
 * Appends to the journal, one write and one sync at a time; what comes meanwhile goes together into the next
 * one. After a failed sync nobody knows what is on the disk, so there is no further write.
 */
export class JournalWriter {
  readonly #disk: Disk
  readonly #folder: string
  /** the file that is written to now */
  #open: { readonly file: OpenFile; readonly name: string; size: number }
  #sequence: number
  #waiting: Waiting[] = []
  /** asked for between two frames: whoever writes all the time must not keep it from happening */
  #rotation: ((rotated: Promise<number>) => void) | undefined
  #running = false
  #broken: StorageUnavailable | undefined
  /** bytes that were not compacted yet */
  written: number

  private constructor(disk: Disk, folder: string, open: { file: OpenFile; name: string; size: number }, { sequence, written }: Ending) {
    this.#disk = disk
    this.#folder = folder
    this.#open = open
    this.#sequence = sequence
    this.written = written
  }

  /** Goes on where the journal ends. */
  static async open(disk: Disk, folder: string, ending: Ending): Promise<JournalWriter> {
    const name = ending.last ?? journalName(ending.sequence + 1)
    const file = await disk.append(`${folder}/${name}`)
    try {
      await assertSynced(disk.syncFolder(folder))
      return new JournalWriter(disk, folder, { file, name, size: await file.size() }, ending)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** The number of the last frame that is on the disk. */
  get sequence(): number {
    return this.#sequence
  }

  /** Why nothing can be written any more, if so. */
  get broken(): StorageUnavailable | undefined {
    return this.#broken
  }

  /** The file that is written to now. */
  get current(): string {
    return this.#open.name
  }

  /**
   * Writes a change down. `done` is called once it is on the disk.
   * @throws {StorageUnavailable} where it is not, or where that is not known
   */
  append(entry: Entry, done: () => void): Promise<void> {
    return new Promise((resolve, reject) => this.#wait({ entry, done: () => (done(), resolve()), failed: reject }))
  }

  /** Waits until all that waits now is written or has failed; not for what comes after it. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#wait({ entry: undefined, done: resolve, failed: () => resolve() }))
  }

  /**
   * Begins a new file.
   * @returns the number of the last frame in the files before it
   */
  rotate(): Promise<number> {
    return new Promise((answer) => {
      this.#rotation = answer
      if (!this.#running) void this.#run()
    })
  }

  /** Nothing is written any more: a sync has failed. */
  stop(cause: unknown): StorageUnavailable {
    return (this.#broken ??= new StorageUnavailable('the disk failed to keep what was written; nothing is written until a restart', {
      cause,
    }))
  }

  async close(): Promise<void> {
    await this.settled()
    this.#broken ??= new StorageUnavailable('the store is closed')
    await this.settled()
    await this.#open.file.close()
  }

  #wait(waiting: Waiting): void {
    this.#waiting.push(waiting)
    if (!this.#running) void this.#run()
  }

  /** One thing at a time. It never throws. */
  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0 || this.#rotation !== undefined) {
      if (this.#rotation !== undefined) {
        const rotated = this.#rotate()
        this.#rotation(rotated)
        this.#rotation = undefined
        await rotated.catch(() => undefined)
      }
      const batch = this.#waiting.splice(0, PER_FRAME)
      const entries = batch.flatMap(({ entry }) => entry ?? [])
      const error = entries.length === 0 ? undefined : (this.#broken ?? (await this.#write(entries)))
      for (const waiting of batch) {
        if (error === undefined) waiting.done()
        else waiting.failed(error)
      }
    }
    this.#running = false
  }

  async #rotate(): Promise<number> {
    if (this.#broken !== undefined) throw this.#broken
    const name = journalName(this.#sequence + 1)
    if (name !== this.#open.name) {
      const file = await this.#disk.append(`${this.#folder}/${name}`)
      try {
        await assertSynced(this.#disk.syncFolder(this.#folder))
      } catch (error) {
        // What would be written into a file that may have no name could be lost.
        this.stop(error)
        await file.close()
        throw error
      }
      const before = this.#open
      this.#open = { file, name, size: 0 }
      await before.file.close()
    }
    this.written = 0
    return this.#sequence
  }

  async #write(entries: readonly Entry[]): Promise<StorageUnavailable | undefined> {
    let frame: Buffer
    try {
      frame = encodeFrame(this.#sequence + 1, entries)
    } catch (cause) {
      return new StorageUnavailable('the change could not be written down', { cause })
    }
    try {
      await this.#open.file.write(frame)
    } catch (cause) {
      return this.#undo(cause)
    }
    try {
      await assertSynced(this.#open.file.sync())
    } catch (cause) {
      return new StorageUnavailable(this.stop(cause).message, { certain: false, cause })
    }
    this.#sequence++
    this.#open.size += frame.byteLength
    this.written += frame.byteLength
    return undefined
  }

  /** A disk that is full may have taken a part. It is cut off again: then it is as if nothing had been tried. */
  async #undo(cause: unknown): Promise<StorageUnavailable> {
    try {
      await this.#open.file.truncate(this.#open.size)
      await assertSynced(this.#open.file.sync())
      return new StorageUnavailable('the journal could not be written', { cause })
    } catch (second) {
      return new StorageUnavailable(this.stop(second).message, { certain: false, cause })
    }
  }
}
