import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { vi } from 'vitest'

/** Delays of the code under test that take no time. */
export interface RecordedDelays {
  /** how long they would have taken, in milliseconds */
  readonly times: number[]
  /** how many of them are not over yet */
  readonly pending: number
  restore(): void
}

/** Makes each `setTimeout` of `node:timers/promises` end at once, until `restore`. */
export function recordDelays(): RecordedDelays {
  const times: number[] = []
  let pending = 0
  const spy = vi.spyOn(timers, 'setTimeout').mockImplementation(async (time) => {
    times.push(time!)
    pending++
    await timers.setImmediate()
    pending--
    return undefined as never
  })
  // The import statements of other modules get the replacement too.
  syncBuiltinESMExports()
  return {
    times,
    get pending() {
      return pending
    },
    restore() {
      spy.mockRestore()
      syncBuiltinESMExports()
    },
  }
}
