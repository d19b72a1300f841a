import type { ReadOptions, Result } from './methods.ts'

/** Reads one page of the changes of a board. */
type ReadPage<Change> = (after: string | undefined) => Promise<Result<Change[]> & { readonly nextCursor: string | null }>

/** What {@link ChangeStream} is read with. */
export interface ChangesInput {
  readonly board_id: string
  /** the cursor to continue from; default: the oldest change that the service has */
  readonly after?: string
  /** the number of seconds for which a request waits for a change, up to 30; default 30 */
  readonly wait?: number
}

/** The options of a stream of changes. */
export type ChangesOptions = Omit<ReadOptions, 'ifNoneMatch'>

/** The changes of a board, in the order of their commits, without an end. */
export class ChangeStream<Change> implements AsyncIterable<Change> {
  readonly #readPage: ReadPage<Change>
  #cursor: string | undefined

  constructor(after: string | undefined, readPage: ReadPage<Change>) {
    this.#cursor = after
    this.#readPage = readPage
  }

  /**
   * The cursor to continue from, also in another process. Store it after you have handled a change: a stream that starts here repeats
   * at most one page, and leaves nothing out. Undefined: from the oldest change.
   */
  get cursor(): string | undefined {
    return this.#cursor
  }

  /** @throws {ApiError} `cursor_expired`: read the board again, and continue from the cursor that belongs to it */
  async *[Symbol.asyncIterator](): AsyncGenerator<Change, never, undefined> {
    for (;;) {
      const { data, nextCursor } = await this.#readPage(this.#cursor)
      yield* data
      // Only now has the caller handled all of them.
      this.#cursor = nextCursor ?? this.#cursor
    }
  }
}
