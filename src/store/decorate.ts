import type { Store } from './port.ts'

/** Delegates every method of a store, except those that are overridden. The name of the driver stays the same. */
export function decorateStore(store: Store, overrides: Partial<Store>): Store {
  return {
    driver: store.driver,
    isRemote: store.isRemote,
    read: (partition, request) => store.read(partition, request),
    commit: (partition, change) => store.commit(partition, change),
    takeLease: (partition) => store.takeLease(partition),
    dump: (partition) => store.dump(partition),
    partitions: () => store.partitions(),
    scan: (partition) => store.scan(partition),
    indexNames: (partition) => store.indexNames(partition),
    findDamage: () => store.findDamage(),
    hold: (partition, work) => store.hold(partition, work),
    mayHaveTombstoneBefore: (partition, entry) => store.mayHaveTombstoneBefore(partition, entry),
    watch: (partition, index, listener) => store.watch(partition, index, listener),
    ready: () => store.ready(),
    metrics: () => store.metrics(),
    damaged: () => store.damaged(),
    close: () => store.close(),
    ...overrides,
  }
}
