import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { vi } from 'vitest'

/** Delays of the code under test that take no time. */
export interface RecordedDelays {
  /** how long they would have taken, in milliseconds */
  readonly times: number[]
  restore(): void
}

/** Makes each `setTimeout` of `node:timers/promises` end at once, until `restore`. */
export function recordDelays(): RecordedDelays {
  const times: number[] = []
  const spy = vi.spyOn(timers, 'setTimeout').mockImplementation(async (time) => {
    times.push(time!)
    await timers.setImmediate()
    return undefined as never
  })
  // The import statements of other modules get the replacement too.
  syncBuiltinESMExports()
  return {
    times,
    restore() {
      spy.mockRestore()
      syncBuiltinESMExports()
    },
  }
}
