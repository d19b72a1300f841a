/** The lines of one source in a window, and the length of the window in milliseconds. */
const LINES = 10
const WINDOW = 1000

/**
 * Bounds the lines that anyone can cause: at most ten of each source in a second are written, and the others are counted. So no client can
 * fill the disk with requests that are refused, and the log states how many records it does not have.
 */
export class LeftOut {
  readonly #state: (source: string, count: number) => void
  /** source → its lines in this window, those that are left out included */
  readonly #lines = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param state gets the number of lines of a source that were left out, when a window ends */
  constructor(state: (source: string, count: number) => void) {
    this.#state = state
  }

  /**
   * Counts a line of a source.
   * @returns whether it is written
   */
  takes(source: string): boolean {
    this.#timer ??= setTimeout(() => this.end(), WINDOW).unref()
    const lines = (this.#lines.get(source) ?? 0) + 1
    this.#lines.set(source, lines)
    return lines <= LINES
  }

  /** Ends the window. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counted = [...this.#lines]
    this.#lines.clear()
    for (const [source, lines] of counted) if (lines > LINES) this.#state(source, lines - LINES)
  }
}
