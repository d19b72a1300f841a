import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Blobs } from '../store/blobs.ts'
import type { Store } from '../store/port.ts'

/**
 * What the operator's work is done with. The operator has the storage itself, so no table is asked: what is
 * here is not reachable over HTTP.
 */
export interface Deps {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
}

/** The same, where bytes of files are touched too. */
export interface AdminDeps extends Deps {
  readonly blobs: Blobs
  /** where people find the service, as far as this process knows */
  readonly foundAt?: () => string | undefined
}

/** What the operator named is not there, or cannot be. Its message says which. */
export class AdminError extends Error {
  override readonly name = 'OperatorError'
  readonly code: 'not_found' | 'conflict' | 'invalid'

  constructor(code: 'not_found' | 'conflict' | 'invalid', message: string) {
    super(message)
    this.code = code
  }
}

/** How a command talks to whoever gave it, here or at the other end of a socket. */
export interface CommandIo {
  /** Says how far long work is. */
  progress(text: string): void
  /** Writes a line of a long answer. */
  write(line: string): Promise<void>
  /** The lines that were sent along. */
  readonly lines: AsyncIterable<string>
}
