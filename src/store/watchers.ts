import type { Change } from './port.ts'

/** Those who wait for commits that append to an index, in this process. */
export class Watchers {
  /** by partition and index */
  readonly #listeners = new Map<string, Set<() => void>>()

  /** @returns ends it */
  watch(partition: string, index: string, listener: () => void): () => void {
    const name = nameOf(partition, index)
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    // The same function may be used twice.
    const call = (): void => listener()
    listeners.add(call)
    return () => {
      if (listeners.delete(call) && listeners.size === 0) this.#listeners.delete(name)
    }
  }

  /** Whether anyone waits for an index. */
  has(partition: string, index: string): boolean {
    return this.#listeners.has(nameOf(partition, index))
  }

  /** Calls whoever waits for the feeds that a commit has appended to. */
  notify(partition: string, { append }: Pick<Change, 'append'>): void {
    if (append === undefined || this.#listeners.size === 0) return
    for (const index of append.keys()) this.notifyIndex(partition, index)
  }

  /** Calls those who wait for an index. */
  notifyIndex(partition: string, index: string): void {
    for (const listener of this.#listeners.get(nameOf(partition, index)) ?? []) listener()
  }
}

function nameOf(partition: string, index: string): string {
  return `${partition} ${index}`
}
