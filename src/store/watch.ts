import type { Store } from './port.ts'

/** Waits for hints: of commits to an index from one moment on, and others. One that comes while nobody waits is not missed. */
export class Watch {
  readonly #signal: AbortSignal
  #unwatch: (() => void) | undefined
  #isHinted = false
  #hasCommits = false
  #wake: (() => void) | undefined

  /** @param signal ends the waiting */
  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#abort)
  }

  get isAborted(): boolean {
    return this.#signal.aborted
  }

  /**
   * From now on, commits to an index are hints.
   * @returns whether they were none before
   */
  begin(store: Store, partition: string, index: string): boolean {
    if (this.#unwatch !== undefined) return false
    this.#unwatch = store.watch(partition, index, () => {
      this.#hasCommits = true
      this.#wake?.()
    })
    return true
  }

  /**
   * Waits for a hint since the last wait, for a time in milliseconds at most.
   * @param forCommits false: wake-ups by commits are kept for the next wait
   */
  async wait(milliseconds: number, forCommits = true): Promise<void> {
    const isOver = () => this.isAborted || this.#isHinted || (forCommits && this.#hasCommits)
    if (!isOver())
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds)
        this.#wake = () => {
          if (!isOver()) return
          clearTimeout(timer)
          resolve()
        }
      })
    this.#wake = undefined
    this.#isHinted = false
    if (forCommits) this.#hasCommits = false
  }

  hint(): void {
    this.#isHinted = true
    this.#wake?.()
  }

  end(): void {
    this.#unwatch?.()
    this.#signal.removeEventListener('abort', this.#abort)
  }

  readonly #abort = (): void => this.#wake?.()
}
