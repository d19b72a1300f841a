import { takeLease } from '../store/migrations/lease.ts'
import { isCurrent, migrateStore, readSchema, type MigrationSummary } from '../store/migrations/run.ts'
import type { AdminDeps, CommandIo } from './deps.ts'

/**
 * Brings all records of the storage to the present version. If it is interrupted, it can be repeated. No service may use the
 * storage meanwhile: those of this version do not start on it before.
 * @throws {UnsupportedSchema} when the records are newer
 * @throws {StorageUnavailable} when storage fails, or another process migrates it
 */
export async function migrate({ store, clock, random }: AdminDeps, io: CommandIo): Promise<MigrationSummary> {
  const deps = { store, random, progress: io.progress }
  if (isCurrent(await readSchema(deps))) return migrateStore(deps)
  const lease = await takeLease(store, clock, random)
  try {
    return await migrateStore({ ...deps, beforeCommit: lease.renew })
  } finally {
    await lease.end()
  }
}
