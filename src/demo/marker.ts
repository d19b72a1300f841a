import { timestamp } from '../model/time.ts'
import { type Deps, transact } from '../store/transact.ts'
import { GLOBAL, keys } from '../store/keys.ts'

/**
 * Begins the creation of the demo data, which happens once per storage. The marker is written before the data, so
 * data that was created in part is not created a second time.
 * @returns `begun` if this process should create the data; otherwise the state of the data that exists
 */
export async function beginDemo({ store, clock, random }: Deps): Promise<'begun' | 'there' | 'unfinished'> {
  return transact(store, GLOBAL, random, async (tx) => {
    const marker = await tx.get(keys.demo())
    if (marker !== undefined) return marker.finished_at === null ? 'unfinished' : 'there'
    tx.put(keys.demo(), { begun_at: timestamp(clock), finished_at: null })
    return 'begun'
  })
}

/** Records that the demo data is complete. */
export async function finishDemo({ store, clock, random }: Deps): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    const marker = (await tx.get(keys.demo()))!
    tx.put(keys.demo(), { ...marker, finished_at: timestamp(clock) })
  })
}
