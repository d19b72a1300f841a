import type { LogSpace } from './space.ts'

/** When lines are synced. `always`: before what waits for them goes on; `interval`: every second. */
export type SyncPolicy = 'always' | 'interval' | 'never'
/** What happens when a line cannot be written. `fail`: nothing is done without a record; `drop`: the record is left out, and counted. */
export type FullPolicy = 'fail' | 'drop'

export interface LogOptions {
  readonly sync: SyncPolicy
  readonly onFull: FullPolicy
  /** SHA-256 of the policy at the start */
  readonly policy: string
  readonly clock: () => number
  /** the bytes of lines that may wait; default: 8 MiB */
  readonly queueBytes?: number
  /** the space of its disk; default: it has none */
  readonly space?: LogSpace | undefined
  /** is called when lines cannot be written, and when they can again */
  readonly onState?: (failure: Error | undefined) => void
}

/** What was counted since the start. */
export interface LogCounts {
  readonly written: number
  /** with `drop`: the records that were left out */
  readonly dropped: number
  /** with `fail`: the requests that were refused because their records could not be written */
  readonly refused: number
}
