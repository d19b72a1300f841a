import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Timers } from '../../src/client/transport.ts'

/** Timers and a monotonic clock that pass only when a test says so. */
export class VirtualClock implements Timers {
  /** in milliseconds, since any moment */
  time = 123_456
  readonly #timers = new Map<object, { readonly at: number; readonly callback: () => void }>()

  setTimeout(callback: () => void, milliseconds: number): object {
    const timer = {}
    this.#timers.set(timer, { at: this.time + milliseconds, callback })
    return timer
  }
  clearTimeout(timer: object): void {
    this.#timers.delete(timer)
  }

  /** Lets time pass, and runs what is due, in its order. @param settle waits until what has begun has come to rest */
  async pass(milliseconds: number, settle: () => Promise<void>): Promise<void> {
    const end = this.time + milliseconds
    for (;;) {
      await settle()
      const next = [...this.#timers].filter(([, { at }]) => at <= end).toSorted(([, one], [, other]) => one.at - other.at)[0]
      if (next === undefined) break
      const [timer, { at, callback }] = next
      this.#timers.delete(timer)
      this.time = Math.max(this.time, at)
      callback()
    }
    this.time = end
    await settle()
  }
}

/** Waits until nothing that runs in this process goes on by itself. @param isBusy whether something is known to be in progress */
export async function atRest(isBusy: () => boolean): Promise<void> {
  for (let quiet = 0; quiet < 10; quiet++) {
    if (isBusy()) quiet = 0
    await nextTurn()
  }
}
