import type { Store } from '../../src/store/port.ts'
import { createMemoryStore } from '../../src/store/memory.ts'

/** A storage driver under test. */
export interface Driver {
  readonly name: string
  /** Opens an empty store. */
  open(): Promise<Store>
}

/** Every driver. The suites that speak of storage run over each. */
export const drivers: readonly Driver[] = [{ name: 'memory', open: async () => createMemoryStore() }]
