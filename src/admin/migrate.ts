import { migrations, type Migration } from '../store/migrations/list.ts'
import { isCurrent, migrateStore, readSchema, type MigrationSummary, writeSchema } from '../store/migrations/run.ts'
import type { AdminDeps, CommandIo } from './deps.ts'
import { randomText, type RandomSource } from '../model/ids.ts'
import { timestamp, type Clock } from '../model/time.ts'
import { GLOBAL } from '../store/keys.ts'
import { StorageUnavailable, type Store } from '../store/port.ts'

/**
 * Brings all records of the storage to the present version. If it is interrupted, it can be repeated. No service may use the
 * storage meanwhile: those of this version do not start on it before.
 * @param list all migrations; another list is for tests only
 * @throws {UnsupportedSchema} when the records have a version that is not read
 * @throws {StorageUnavailable} when storage fails, or another process migrates it
 */
export async function migrate(
  { store, clock, random }: AdminDeps,
  io: CommandIo,
  list: readonly Migration[] = migrations,
): Promise<MigrationSummary> {
  const deps = { store, random, list, progress: io.progress }
  if (isCurrent(await readSchema(deps), list)) return migrateStore(deps)
  const lease = await takeLease(store, clock, random)
  try {
    return await migrateStore({ ...deps, beforeCommit: lease.renew })
  } finally {
    await lease.end()
  }
}

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
