import { extname } from 'node:path'
import { ApiError } from '../model/errors.ts'
import { isProgramReplaced } from '../model/package-files.ts'
import { askThread, ThreadFailed, type ThreadLimits } from '../model/thread.ts'
import type { BoardFile, BoardReading, RefusedFile } from './board-reading.ts'

/** Reads a file of another program. */
export type BoardReader = (file: BoardFile) => Promise<BoardReading | RefusedFile>

/** The module that a thread runs: compiled if this one is. Node.js 20 cannot run TypeScript in a thread. */
const MODULE = new URL(`./reading-thread${extname(import.meta.url)}`, import.meta.url)
/** A thread needs about one second and 150 MiB for the largest file. */
const LIMITS: ThreadLimits = { time: 20_000, memory: 320 }
/** Files that may wait while another one is read. */
const MOST_WAITING = 5

/**
 * Reads one file at a time, each in a new thread of bounded time and memory: whoever uploads a file decides how much work it is.
 * @param module what the thread runs
 */
export function threadReader(module: URL = MODULE, limits = LIMITS): BoardReader {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const read = (file: BoardFile) => askThread<BoardReading | RefusedFile>('the thread that reads files', module, file, limits)
  return async (file) => {
    if (waiting > MOST_WAITING)
      throw new ApiError('rate_limited', {
        message: 'Too many files are being read at this moment. Try again in a minute.',
        headers: { 'retry-after': '60' },
      })
    waiting++
    const reading = last.then(() => read(file))
    last = reading.catch(() => undefined)
    try {
      return await reading
    } catch (error) {
      if (!(error instanceof ThreadFailed) || isProgramReplaced()) throw error
      return { refused: 'the file takes too much time or memory here; an operator can import it with the command lanekeeper import' }
    } finally {
      waiting--
    }
  }
}
