import type { Writable } from 'node:stream'
import type { LogEnd } from './line.ts'

/** Where the lines of a log are written. */
export interface Sink {
  /** what was there before */
  readonly end: LogEnd
  /**
   * Prepares the next write.
   * @returns whether it goes to a file that has nothing yet: its first line then names the chain
   */
  prepare(): Promise<boolean>
  /** Writes lines. If it throws, the next write begins where this one began. */
  write(bytes: Buffer): Promise<void>
  /**
   * Writes lines at once, unless something has to be done before. If it throws, the next write begins where this one began.
   * @returns whether they are written; if not, they must be written as usual
   */
  writeNow?(bytes: Buffer): boolean
  /** @throws {SyncFailed} */
  sync(): Promise<void>
  close(): Promise<void>
}

const EMPTY: LogEnd = { head: null, next: 0, torn: undefined, isOpen: false }

/**
 * Lines on a stream, such as stdout. What it keeps is the concern of the process that reads it.
 * @param end of the log that the stream goes on with; default: it begins one
 */
export function streamSink(stream: Writable, end: LogEnd = EMPTY): Sink {
  // Each failed write gets the error, too.
  stream.on('error', () => undefined)
  return {
    end,
    prepare: async () => false,
    write: (bytes) => new Promise((resolve, reject) => void stream.write(bytes, (error) => (error == null ? resolve() : reject(error)))),
    sync: async () => undefined,
    close: async () => undefined,
  }
}
