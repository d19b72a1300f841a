import { setImmediate as nextRound } from 'node:timers/promises'
import { replaceDelays } from './builtins.ts'

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
  const restore = replaceDelays(async (time) => {
    times.push(time)
    pending++
    await nextRound()
    pending--
  })
  return {
    times,
    get pending() {
      return pending
    },
    restore,
  }
}
