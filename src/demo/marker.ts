import { timestamp } from '../model/time.ts'
import type { Deps } from '../admin/deps.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'

/**
 * Whether the demo world may be made: once in the life of a storage. That it was begun is written before
 * anything of it, so a world that was made by half is not made again beside it.
 * @returns `begun` where this process may make it; else what came of the first time
 */
export async function beginDemo({ store, clock, random }: Deps): Promise<'begun' | 'there' | 'unfinished'> {
  return transact(store, GLOBAL, random, async (tx) => {
    const marker = await tx.get(keys.demo())
    if (marker !== undefined) return marker.finished_at === null ? 'unfinished' : 'there'
    tx.put(keys.demo(), { begun_at: timestamp(clock), finished_at: null })
    return 'begun'
  })
}

/** Says that the demo world is there, all of it. */
export async function finishDemo({ store, clock, random }: Deps): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    const marker = (await tx.get(keys.demo()))!
    tx.put(keys.demo(), { ...marker, finished_at: timestamp(clock) })
  })
}
