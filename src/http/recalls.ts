/** How many attempts of an operation read first, at most, after one that was wrong. */
const LONGEST_PAUSE = 64

/**
 * Which operations begin with what this process remembers (see `Transaction.recall`). That saves a write one access to the storage, and costs
 * one if another process has changed something. So after an attempt that was wrong, some attempts of its operation read first: twice as many
 * after each, until one was right.
 */
export class Recalls {
  readonly #pauses = new Map<string, { readonly length: number; left: number }>()

  /** Whether the next attempt of an operation may begin with what is remembered. */
  mayNext(operation: string): boolean {
    const pause = this.#pauses.get(operation)
    if (pause === undefined || pause.left === 0) return true
    pause.left--
    return false
  }

  /** Notes whether it was right to begin so. */
  note(operation: string, wasRight: boolean): void {
    if (wasRight) return void this.#pauses.delete(operation)
    const length = Math.min(2 * (this.#pauses.get(operation)?.length ?? 1), LONGEST_PAUSE)
    this.#pauses.set(operation, { length, left: length })
  }
}
