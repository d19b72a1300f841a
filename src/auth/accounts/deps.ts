import type { RandomSource } from '../../model/ids.ts'
import type { Clock } from '../../model/time.ts'
import type { Store } from '../../store/port.ts'

/** What accounts are kept with. */
export interface AccountDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
}
