import type { Store } from '../store/port.ts'

/** Watches an index from one moment on: a commit that comes while something else is done is not missed. */
export class Watch {
  readonly #signal: AbortSignal
  readonly #unwatch: () => void
  #isHinted = false
  #wake: (() => void) | undefined

  /** @param signal ends the waiting */
  constructor(store: Store, partition: string, index: string, signal: AbortSignal) {
    this.#signal = signal
    this.#unwatch = store.watch(partition, index, () => this.#hint())
    signal.addEventListener('abort', this.#abort)
  }

  /** Waits for a commit since the last wait, for a time in milliseconds at most. */
  async wait(milliseconds: number): Promise<void> {
    if (!this.#isHinted && !this.#signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds)
        this.#wake = () => (clearTimeout(timer), resolve())
      })
    this.#wake = undefined
    this.#isHinted = false
  }

  end(): void {
    this.#unwatch()
    this.#signal.removeEventListener('abort', this.#abort)
  }

  #hint(): void {
    this.#isHinted = true
    this.#wake?.()
  }

  readonly #abort = (): void => this.#wake?.()
}
