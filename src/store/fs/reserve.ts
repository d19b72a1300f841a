import { randomBytes } from 'node:crypto'
import { replaceFile, truncateFile, type Disk } from './disk.ts'

/** How much of the reserve is given up at once, in bytes. */
const PART = 64 * 1024

/**
 * A file that takes up space of the disk. When the disk is full, it gives up a part of its space for a change that
 * only revokes or removes. No other change is made until it has its size again: it would use up what was given up.
 */
export class Reserve {
  readonly #disk: Disk
  readonly #folder: string
  readonly #fullSize: number
  /** its present size; undefined when it is not known */
  #size: number | undefined

  /** @param fullSize in bytes */
  constructor(disk: Disk, folder: string, fullSize: number) {
    this.#disk = disk
    this.#folder = folder
    this.#fullSize = fullSize
  }

  /** Whether it has its full size. */
  get isFull(): boolean {
    return this.#size === this.#fullSize
  }

  /** Finds out its size, and brings it to its full size if there is space. @throws {SyncFailed} */
  async open(): Promise<void> {
    try {
      const file = await this.#disk.append(`${this.#folder}/reserve`)
      this.#size = await file.size().finally(() => file.close())
      if (!this.isFull) await this.restore()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }

  /**
   * Writes it again, which needs as much space as its size, so it also tells whether there is space.
   * @throws an error with the code ENOSPC
   * @throws {SyncFailed}
   */
  async restore(): Promise<void> {
    // Random: some file systems compress.
    await replaceFile(this.#disk, this.#folder, 'reserve', [randomBytes(this.#fullSize)])
    this.#size = this.#fullSize
  }

  /**
   * Gives up a part of its space.
   * @returns false when it has none left
   * @throws {SyncFailed}
   */
  async release(): Promise<boolean> {
    if (this.#size === undefined || this.#size === 0) return false
    this.#size = Math.max(0, this.#size - PART)
    await truncateFile(this.#disk, `${this.#folder}/reserve`, this.#size)
    return true
  }
}
