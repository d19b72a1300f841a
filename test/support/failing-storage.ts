import type { AdminDeps } from '../../src/admin/deps.ts'
import { decorateStore, StorageUnavailable } from '../../src/store/port.ts'

/** Fails every storage operation from the nth one on, as if the process had ended. */
export function failFrom(deps: AdminDeps, at: number): { deps: AdminDeps; reached: () => boolean } {
  let operations = 0
  const failure = new StorageUnavailable('a planted failure')
  const run = <T>(operation: () => Promise<T>): Promise<T> => (++operations < at ? operation() : Promise.reject(failure))
  const { store, blobs } = deps
  return {
    reached: () => operations >= at,
    deps: {
      ...deps,
      store: decorateStore(store, {
        read: (partition, request) => run(async () => store.read(partition, request)),
        commit: (partition, change) => run(async () => store.commit(partition, change)),
      }),
      blobs: {
        ...blobs,
        write: (id, bytes) => run(() => blobs.write(id, bytes)),
        exists: (id) => run(() => blobs.exists(id)),
        remove: (id) => run(() => blobs.remove(id)),
      },
    },
  }
}
