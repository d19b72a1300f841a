import type { StoreMetrics } from '../port.ts'
import type { Disk } from './disk.ts'

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
