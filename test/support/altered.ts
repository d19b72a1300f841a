import type { Store } from '../../src/store/port.ts'

/** A store that does some things differently, whatever driver it is. */
export function altered(store: Store, changes: Partial<Store>): Store {
  return {
    driver: store.driver,
    read: (...request) => store.read(...request),
    commit: (...change) => store.commit(...change),
    dump: (partition) => store.dump(partition),
    ready: () => store.ready(),
    close: () => store.close(),
    ...changes,
  }
}
