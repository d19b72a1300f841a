import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Store } from './port.ts'

/** The store, the clock and the source of randomness that a unit of work runs with. */
export interface Deps {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  /** the number of records that one commit of a cascade may change; the tests use small ones */
  readonly batch?: number | undefined
}
