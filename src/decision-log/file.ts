import { dirname } from 'node:path'
import { constants, writeSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { assertSynced, type Disk, type OpenFile, realDisk } from '../store/fs/disk.ts'
import { findEnd, type LogEnd } from './line.ts'
import type { Sink } from './sink.ts'

/**
 * The real file system, with writes that do not leave the thread: the memory of the operating system takes a few lines in less time than it
 * takes to hand them to another thread. Syncs, which wait for the disk, still have a thread.
 */
export const logFileSystem: Disk = {
  ...realDisk,
  async append(path) {
    const [file, handle] = [await realDisk.append(path), await fs.open(path, constants.O_WRONLY | constants.O_APPEND)]
    const writeNow = (bytes: Uint8Array): void => {
      for (let written = 0; written < bytes.byteLength;) written += writeSync(handle.fd, bytes, written)
    }
    return {
      ...file,
      writeNow,
      write: async (bytes) => writeNow(bytes),
      close: async () => void (await Promise.all([file.close(), handle.close()])),
    }
  },
}

/** How often it is checked that the file is still at its path, in milliseconds. */
const CHECK = 1000

export interface FileOptions {
  /** the size in bytes at which the next line goes to a new file */
  readonly maxBytes: number
  /** a clock that only goes forward, in milliseconds */
  readonly now: () => number
  /** the time for the names of full files */
  readonly clock: () => number
  /** a full file could not be renamed: the log goes on in it */
  readonly onFailedRotation: (error: unknown) => void
}

/**
 * A log in a file. A full file is renamed and a new one begun; the same happens if another program has renamed or removed it. What a
 * failed write has left is cut off before the next one.
 */
export class FileSink implements Sink {
  readonly end: LogEnd
  readonly #disk: Disk
  readonly #path: string
  readonly #options: FileOptions
  #file: OpenFile | undefined
  /** the bytes that were written completely */
  #size: number
  #isNew = false
  #isTorn = false
  #checkedAt: number
  #rotateAt = 0

  private constructor(disk: Disk, path: string, options: FileOptions, { file, size, end }: { file: OpenFile; size: number; end: LogEnd }) {
    this.#disk = disk
    this.#path = path
    this.#options = options
    this.#file = file
    this.#size = size
    this.end = end
    this.#checkedAt = options.now()
  }

  /**
   * Opens a log, and finds its end.
   * @throws {NoDecisionLog} if the file is something else
   */
  static async open(disk: Disk, path: string, options: FileOptions): Promise<FileSink> {
    const file = await disk.append(path)
    try {
      await assertSynced(disk.syncFolder(dirname(path)))
      const size = await file.size()
      const end = await findEnd(path, size === 0 ? [] : disk.readParts(path))
      return new FileSink(disk, path, options, { file, size, end })
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async prepare(): Promise<boolean> {
    const now = this.#options.now()
    if (this.#file !== undefined && this.#size >= this.#options.maxBytes && now >= this.#rotateAt) await this.#rotate(this.#file)
    if (this.#file !== undefined && now - this.#checkedAt >= CHECK) {
      this.#checkedAt = now
      if (!(await this.#file.isAt(this.#path))) await this.#finish(this.#file)
    }
    if (this.#file === undefined) await this.#begin()
    return this.#isNew
  }

  async write(bytes: Buffer): Promise<void> {
    const file = this.#file!
    if (this.#isTorn && (await file.size()) > this.#size) await file.truncate(this.#size)
    this.#isTorn = true
    await file.write(bytes)
    this.#isTorn = false
    this.#isNew = false
    this.#size += bytes.byteLength
  }

  writeNow(bytes: Buffer): boolean {
    const file = this.#file
    if (file?.writeNow === undefined || this.#isTorn || this.#isNew || this.#size >= this.#options.maxBytes) return false
    if (this.#options.now() - this.#checkedAt >= CHECK) return false
    this.#isTorn = true
    file.writeNow(bytes)
    this.#isTorn = false
    this.#size += bytes.byteLength
    return true
  }

  async sync(): Promise<void> {
    if (this.#file !== undefined) await assertSynced(this.#file.sync())
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  async #rotate(file: OpenFile): Promise<void> {
    const stamp = new Date(this.#options.clock()).toISOString().replaceAll(/[-:]/g, '')
    let name = `${this.#path}.${stamp}`
    for (let i = 1; (await this.#disk.sizeOf(name)) > 0; i++) name = `${this.#path}.${stamp}-${i}`
    try {
      // Another program may have renamed it before: then there is nothing of ours at the path.
      if (await file.isAt(this.#path)) await this.#disk.rename(this.#path, name)
    } catch (error) {
      this.#rotateAt = this.#options.now() + CHECK
      return this.#options.onFailedRotation(error)
    }
    await this.#finish(file)
  }

  /** Ends with a file that has another name now. */
  async #finish(file: OpenFile): Promise<void> {
    if (this.#isTorn && (await file.size()) > this.#size) await file.truncate(this.#size)
    await assertSynced(file.sync())
    this.#file = undefined
    await file.close()
  }

  async #begin(): Promise<void> {
    const file = await this.#disk.append(this.#path)
    try {
      await assertSynced(this.#disk.syncFolder(dirname(this.#path)))
      if ((await file.size()) > 0) throw new Error(`${this.#path} belongs to another process`)
    } catch (error) {
      await file.close()
      throw error
    }
    this.#file = file
    this.#size = 0
    this.#isNew = true
    this.#isTorn = false
    this.#checkedAt = this.#options.now()
  }
}
