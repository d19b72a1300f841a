import type { Store } from './port.ts'

/** Runs maintenance of a partition (see {@link Store.hold}). */
export function hold<T>(store: Store, partition: string, work: () => Promise<T>): Promise<T> {
  return store.hold?.(partition, work) ?? work()
}
