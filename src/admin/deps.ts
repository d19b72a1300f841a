import type { Blobs } from '../store/blobs.ts'
import type { Deps } from '../store/deps.ts'

/**
 * What the administration commands run with. They have direct access to the storage and are not subject to the
 * policy, so none of them is reachable over HTTP.
 */
export interface AdminDeps extends Deps {
  readonly blobs: Blobs
  /** how long changes of boards are kept, in milliseconds, and how many of each board; by default 7 days and 100,000 */
  readonly changes?: { readonly age: number; readonly count: number } | undefined
  /** the origin at which users reach the service, if this process knows it */
  readonly serviceUrl?: () => string | undefined
}

/** An administration command failed because of its input. The message says which part of it and why. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly code: 'not_found' | 'conflict' | 'invalid'

  constructor(code: 'not_found' | 'conflict' | 'invalid', message: string) {
    super(message)
    this.code = code
  }
}

/** The input and output streams of a command: those of this process, or of the RPC client. */
export interface CommandIo {
  /** Reports the progress of a long command. */
  progress(text: string): void
  /** Writes one line of output. Resolves when the next line can be written. */
  write(line: string): Promise<void>
  /** the lines of input */
  readonly lines: AsyncIterable<string>
}
