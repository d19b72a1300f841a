import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { areDescriptorsLeft } from './descriptors.ts'

type Loaders = (() => Promise<unknown>)[]
const loaders: Loaders = []

/** Something could not be loaded now, because the process or the machine lacks something. What needs it fails, and may be tried again. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded'

  constructor(cause?: unknown) {
    super(
      `a part of the service cannot be loaded now: ${cause instanceof Error ? cause.message : 'too many files and connections are open'}`,
      {
        cause,
      },
    )
  }
}

/** A file of the program is missing: to try again is of no use. */
const MISSING: ReadonlySet<unknown> = new Set(['ENOENT', 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])

/** For tests only. */
interface LazyOptions {
  readonly among?: Loaders
  /** whether a module can be loaded now */
  readonly hasRoom?: () => boolean
}

/**
 * Something that is loaded when it is first used, or after the start: a module and the files that it reads. It is loaded once, and
 * nothing of it is read from disk again. So a service works on when its files are replaced or removed.
 * @param load loads it; it is tried again after a failure
 * @returns a function whose promise is rejected with {@link NotLoaded}, or with the error of a file that is missing
 */
export function lazy<Loaded>(load: () => Promise<Loaded>, { among = loaders, hasRoom = areDescriptorsLeft }: LazyOptions = {}) {
  const get = once(() => begin(load, hasRoom))
  among.push(get)
  return get
}

/** A value that is made when it is first asked for, and again after a failure. */
export function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    }))
}

async function begin<Loaded>(load: () => Promise<Loaded>, hasRoom: () => boolean): Promise<Loaded> {
  // Node.js 20 never tries a module again whose file it could not open.
  if (!hasRoom()) throw new NotLoaded()
  try {
    return await load()
  } catch (error) {
    // Without descriptors, a file that cannot be opened can look like one that is missing.
    const isMissing = MISSING.has((error as NodeJS.ErrnoException | undefined)?.code) && hasRoom()
    throw isMissing || error instanceof NotLoaded ? error : new NotLoaded(error)
  }
}

/** What {@link loadLazy} does about a failure. */
export interface LoadOptions {
  /** is called for the first failure of each round */
  readonly onFailure: (error: NotLoaded) => void
  /** waits before the next round; its number begins with 1 */
  readonly pause?: (round: number) => Promise<unknown>
  readonly among?: Loaders
}

/** The pause after a round of failures, in milliseconds: it doubles, up to the longest. */
const [SHORTEST, LONGEST] = [250, 60_000]
const pauseAfter = (round: number): Promise<unknown> => delay(Math.min(SHORTEST * 2 ** round, LONGEST), undefined, { ref: false })

/**
 * Loads everything that is {@link lazy}, also what the loaded modules have in turn. Other work is done between. What cannot be loaded now
 * is tried again, until everything is loaded.
 * @throws the error of a file that is missing
 */
export async function loadLazy({ onFailure, pause = pauseAfter, among = loaders }: LoadOptions): Promise<void> {
  for (let round = 1; ; round++) {
    let failure: NotLoaded | undefined
    // The list grows in the loop.
    for (const load of among) {
      try {
        await load()
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error
        failure ??= error
      }
      await setImmediate()
    }
    if (failure === undefined) return
    onFailure(failure)
    await pause(round)
  }
}
