import { Unavailable } from '../port.ts'
import type { Disk, OpenFile } from './disk.ts'
import { encodeFrame, journalName, type Entry } from './journal.ts'

interface Waiting {
  readonly entry: Entry
  /** called in the order of the journal, before anything else can happen */
  readonly done: (sequence: number) => void
  readonly failed: (error: Unavailable) => void
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
  #file: OpenFile
  #name: string
  #size: number
  #sequence: number
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #broken: Unavailable | undefined
  /** bytes that were written since the last rotation */
  written = 0

  private constructor(disk: Disk, folder: string, file: OpenFile, name: string, size: number, sequence: number) {
    this.#disk = disk
    this.#folder = folder
    this.#file = file
    this.#name = name
    this.#size = size
    this.#sequence = sequence
  }

  /**
   * Goes on where the journal ends.
   * @param last the last file there is, if any
   * @param sequence of the last frame
   */
  static async open(disk: Disk, folder: string, last: string | undefined, sequence: number): Promise<JournalWriter> {
    const name = last ?? journalName(sequence + 1)
    const file = await disk.append(`${folder}/${name}`)
    await disk.syncFolder(folder)
    return new JournalWriter(disk, folder, file, name, await file.size(), sequence)
  }

  /** The number of the last frame that is on the disk. */
  get sequence(): number {
    return this.#sequence
  }

  /** Why nothing can be written any more, if so. */
  get broken(): Unavailable | undefined {
    return this.#broken
  }

  /**
   * Writes a change down. `done` is called once it is on the disk.
   * @throws {Unavailable} where it is not, or where that is not known
   */
  append(entry: Entry, done: (sequence: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (sequence: number): void => {
        done(sequence)
        resolve()
      }
      this.#waiting.push({ entry, done: settle, failed: reject })
      if (this.#running === undefined) void this.#start(() => this.#run())
    })
  }

  /** Waits until all that waits now is written or has failed. */
  async settled(): Promise<void> {
    await this.#running
  }

  /**
   * Begins a new file.
   * @returns the number of the last frame in the files before it
   */
  async rotate(): Promise<number> {
    while (this.#running !== undefined) await this.#running
    const before = this.#file
    let sequence = 0
    await this.#start(async () => {
      await this.#begin()
      sequence = this.#sequence
    })
    if (before !== this.#file) await before.close()
    return sequence
  }

  /** The file that is written to now. */
  get current(): string {
    return this.#name
  }

  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    this.#broken ??= new Unavailable('the store is closed')
    await this.#file.close()
  }

  /** One thing at a time: whatever was appended meanwhile is written afterwards. */
  #start(task: () => Promise<void>): Promise<void> {
    this.#running = task().finally(() => {
      this.#running = undefined
      if (this.#waiting.length > 0) void this.#start(() => this.#run())
    })
    return this.#running
  }

  async #begin(): Promise<void> {
    const name = journalName(this.#sequence + 1)
    if (name === this.#name) return
    this.#file = await this.#disk.append(`${this.#folder}/${name}`)
    await this.#disk.syncFolder(this.#folder)
    this.#name = name
    this.#size = 0
    this.written = 0
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, PER_FRAME)
      const error = this.#broken ?? (await this.#write(batch))
      for (const waiting of batch) {
        if (error === undefined) waiting.done(this.#sequence)
        else waiting.failed(error)
      }
    }
  }

  async #write(batch: readonly Waiting[]): Promise<Unavailable | undefined> {
    let frame: Buffer
    try {
      frame = encodeFrame(
        this.#sequence + 1,
        batch.map(({ entry }) => entry),
      )
    } catch (cause) {
      return new Unavailable('the change could not be written down', { cause })
    }
    try {
      await this.#file.write(frame)
    } catch (cause) {
      return this.#undo(cause)
    }
    try {
      await this.#file.sync()
    } catch (cause) {
      this.#broken = new Unavailable('the disk failed to keep what was written; nothing is written any more until a restart', { cause })
      return new Unavailable(this.#broken.message, { certain: false, cause })
    }
    this.#sequence++
    this.#size += frame.byteLength
    this.written += frame.byteLength
    return undefined
  }

  /** A disk that is full may have taken a part. It is cut off again: then it is as if nothing had been tried. */
  async #undo(cause: unknown): Promise<Unavailable> {
    try {
      await this.#file.truncate(this.#size)
      await this.#file.sync()
      return new Unavailable('the journal could not be written', { cause })
    } catch (second) {
      this.#broken = new Unavailable('the journal could not be written, nor mended; nothing is written any more until a restart', {
        cause: second,
      })
      return new Unavailable(this.#broken.message, { certain: false, cause })
    }
  }
}
