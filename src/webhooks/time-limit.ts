/** The timers of a delivery. Injected, so that tests do not wait. */
export interface Timers {
  setTimeout(callback: () => void, milliseconds: number): unknown
  clearTimeout(timer: any): void
}

/** The timers of the process. */
export const systemTimers: Timers = { setTimeout: (...args) => setTimeout(...args), clearTimeout: (timer) => clearTimeout(timer) }

/** Why something is not waited for any more. `stopped`: its signal was aborted, because the service or the delivery ends. */
export type EndOfWaiting = 'timed out' | 'stopped'

/** How long something is waited for. */
export interface TimeLimit {
  readonly milliseconds: number
  readonly timers: Timers
  readonly signal?: AbortSignal | undefined
}

/**
 * Calls `end` after a time or when the signal is aborted, once and never before this function has returned.
 * @returns ends the waiting: `end` is not called any more
 */
export function limitTime({ milliseconds, timers, signal }: TimeLimit, end: (reason: EndOfWaiting) => void): () => void {
  let isWaiting = true
  const stopWaiting = (): void => {
    isWaiting = false
    timers.clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
  const endBecause = (reason: EndOfWaiting): void => {
    if (!isWaiting) return
    stopWaiting()
    end(reason)
  }
  const onAbort = (): void => endBecause('stopped')
  const timer = timers.setTimeout(() => endBecause('timed out'), milliseconds)
  if (signal?.aborted === true) queueMicrotask(onAbort)
  else signal?.addEventListener('abort', onAbort)
  return stopWaiting
}
