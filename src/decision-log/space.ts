import * as fs from 'node:fs/promises'

/** The space of a disk, in bytes. */
export interface DiskSpace {
  /** what this process may still use */
  readonly free: number
  readonly total: number
}

/** How much is left: at most 20 % is `low`, at most 5 % is `almost_full`. */
export type SpaceWarning = 'low' | 'almost_full'

/** How long what was read is used again, in milliseconds. */
const KEPT = 10_000
/** When the same warning is given again, in milliseconds. */
const REPEATED = 60 * 60 * 1000

export interface LogSpaceOptions {
  readonly read: () => Promise<DiskSpace>
  /** a clock that only goes forward, in milliseconds */
  readonly now: () => number
  /** is called at most once an hour for each warning */
  readonly onWarning: (warning: SpaceWarning, space: DiskSpace) => void
}

/**
 * The space of the disk of a log. A full disk refuses the requests of everyone, so operators are warned before. It is examined when the log
 * is written or someone asks, not by a timer.
 */
export class LogSpace {
  readonly #options: LogSpaceOptions
  #space: Promise<DiskSpace | undefined> | undefined
  #readAt = -Infinity
  readonly #warnedAt = new Map<SpaceWarning, number>()

  constructor(options: LogSpaceOptions) {
    this.#options = options
  }

  /** @returns undefined if the disk cannot be examined; it never rejects */
  read(): Promise<DiskSpace | undefined> {
    const now = this.#options.now()
    if (this.#space === undefined || now - this.#readAt >= KEPT) {
      this.#readAt = now
      this.#space = this.#options.read().then(
        (space) => (this.#warn(space, now), space),
        () => undefined,
      )
    }
    return this.#space
  }

  #warn(space: DiskSpace, now: number): void {
    const warning = warningOf(space)
    if (warning === undefined || now - (this.#warnedAt.get(warning) ?? -Infinity) < REPEATED) return
    this.#warnedAt.set(warning, now)
    this.#options.onWarning(warning, space)
  }
}

/** @returns undefined if there is enough */
export function warningOf({ free, total }: DiskSpace): SpaceWarning | undefined {
  if (free <= total * 0.05) return 'almost_full'
  return free <= total * 0.2 ? 'low' : undefined
}

/** The space of the disk that has a file or a folder. */
export async function spaceOf(path: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await fs.statfs(path)
  return { free: bavail * bsize, total: blocks * bsize }
}
