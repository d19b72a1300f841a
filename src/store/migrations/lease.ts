import { randomText, type RandomSource } from '../../model/ids.ts'
import { timestamp, type Clock } from '../../model/time.ts'
import { GLOBAL } from '../keys.ts'
import { StorageUnavailable, type Store } from '../port.ts'
import { writeSchema } from './run.ts'

/** How long the lease of a process that has died lasts, in milliseconds. */
const DURATION = 30_000

/** A process that migrates a storage, while no other process does. */
export interface Lease {
  /** Extends the lease when a third of it is over. @throws {StorageUnavailable} when another process has it */
  renew(): Promise<void>
  end(): Promise<void>
}

/**
 * Takes the lease of a storage, whose version was read. It keeps two operators from waiting for the same migration. If it expires too early, two
 * processes migrate at once, which does no harm.
 * @throws {StorageUnavailable} when another process has it
 */
export async function takeLease(store: Store, clock: Clock, random: RandomSource): Promise<Lease> {
  const id = randomText(random, 20)
  let renewAt = 0
  const take = async (): Promise<void> => {
    const now = clock()
    await writeSchema(store, GLOBAL, random, (present) => {
      const { version, lease, ...rest } = present!
      if (lease !== undefined && lease.id !== id && Date.parse(lease.until) > now)
        throw new StorageUnavailable(`another process migrates this storage; if it has ended, try again after ${lease.until}`)
      return { version, ...rest, lease: { id, until: timestamp(() => now + DURATION) } }
    })
    renewAt = now + DURATION / 3
  }
  await take()
  return {
    renew: async () => {
      if (clock() >= renewAt) await take()
    },
    end: () =>
      writeSchema(store, GLOBAL, random, (present) => {
        const { lease, ...rest } = present!
        return lease?.id === id ? rest : present!
      }),
  }
}
