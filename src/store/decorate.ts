import type { Store } from './port.ts'

/** Delegates every method of a store, except those that are overridden. The name of the driver stays the same. */
export function decorateStore(store: Store, overrides: Partial<Store>): Store {
  return {
    driver: store.driver,
    read: (partition, request) => store.read(partition, request),
    commit: (partition, change) => store.commit(partition, change),
    takeTurn: (partition) => store.takeTurn(partition),
    dump: (partition) => store.dump(partition),
    ready: () => store.ready(),
    damaged: () => store.damaged?.() ?? [],
    close: () => store.close(),
    ...overrides,
  }
}
