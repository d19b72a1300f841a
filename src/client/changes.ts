import type { ApiError, NoResponse } from './errors.ts'
import type { RequestOptions, Result } from './methods.ts'

/** Reads one page of the changes of a board. */
type ReadPage<Change> = (
  after: string | undefined,
  signal: AbortSignal,
) => Promise<Result<Change[]> & { readonly nextCursor: string | null }>

/** What {@link ChangeStream} is read with. */
export interface ChangesInput {
  readonly board_id: string
  /** the cursor to continue from, or `now`: only what comes; default: the oldest change that the service has */
  readonly after?: string
  /** how many seconds a request waits for a change, up to 30; default 30 */
  readonly wait?: number
}

/** What a stream of notices is read with. */
export interface NoticesInput {
  /** only those that are not marked as read */
  readonly unread?: boolean
  /** the cursor to continue from; default: the oldest notice that the service has */
  readonly after?: string
  /** how many seconds a request waits for a notice, up to 30; default 30 */
  readonly wait?: number
}

/** A request for changes has failed and will be repeated. */
export interface Retry {
  /** why it has failed */
  readonly error: ApiError | NoResponse
  /** the number of failures since the last response */
  readonly attempt: number
  /** the time until the next attempt, in milliseconds */
  readonly wait: number
}

/** The options of a stream of changes. */
export interface ChangesOptions extends RequestOptions {
  /** is called before each wait of an outage. An error that it throws ends the stream. */
  readonly onRetry?: (retry: Retry) => void
}

/** The changes of a board, in the order of their commits, without an end. */
export class ChangeStream<Change> implements AsyncIterable<Change, void> {
  readonly #readPage: ReadPage<Change>
  readonly #signal: AbortSignal | undefined
  #cursor: string | undefined

  constructor(after: string | undefined, readPage: ReadPage<Change>, signal: AbortSignal | undefined) {
    this.#cursor = after
    this.#readPage = readPage
    this.#signal = signal
  }

  /**
   * The cursor to continue from, also in another process. Store it after you have handled a change: a stream that starts here repeats
   * at most one page, and leaves nothing out. Undefined: from the oldest change.
   */
  get cursor(): string | undefined {
    return this.#cursor
  }

  /**
   * An outage of the service or the network does not end the iteration: it goes on from its cursor.
   * @throws {ApiError} what waiting cannot mend: the status is 400, 401, 403, 404, 422 or another one of 4xx, but not 408, 425 and 429.
   *   After `cursor_expired`, read the board again, and continue from the cursor that belongs to it.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Change, void, undefined> {
    const stop = new AbortController()
    const changes = this.#read(stop)
    let isLeft = false
    const iterator: AsyncIterableIterator<Change, void, undefined> = {
      [Symbol.asyncIterator]: () => iterator,
      next: () =>
        changes.next().catch((error: unknown) => {
          if (isLeft) return { done: true, value: undefined }
          throw error
        }),
      // A generator returns only after its pending read, and in an outage that takes as long as the outage.
      return: () => {
        isLeft = true
        stop.abort()
        return changes.return()
      },
    }
    return iterator
  }

  async *#read(stop: AbortController): AsyncGenerator<Change, void, undefined> {
    const signal = this.#signal
    const abort = (): void => stop.abort(signal!.reason)
    signal?.throwIfAborted()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      for (;;) {
        const { data, nextCursor } = await this.#readPage(this.#cursor, stop.signal)
        yield* data
        // Only now has the caller handled all of them.
        this.#cursor = nextCursor ?? this.#cursor
      }
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }
}
