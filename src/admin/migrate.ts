import { takeLease } from '../store/migrations/lease.ts'
import { migrations } from '../store/migrations/list.ts'
import type { Migration } from '../store/migrations/migration.ts'
import { isCurrent, migrateStore, readSchema, type MigrationSummary } from '../store/migrations/run.ts'
import type { AdminDeps, CommandIo } from './deps.ts'

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
