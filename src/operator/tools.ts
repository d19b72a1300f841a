import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Store } from '../store/port.ts'

/**
 * What the operator's work is done with. The operator has the storage itself, so no table is asked: what is
 * here is not reachable over HTTP.
 */
export interface Tools {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
}
