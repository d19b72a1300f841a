import type { Logger } from 'pino'
import type { RandomSource } from '../../model/ids.ts'
import type { SchemaRecord } from '../../model/schema.ts'
import { sumOfFiles } from '../file-bytes.ts'
import { rebuildIndexes } from '../index-check.ts'
import { GLOBAL, keys } from '../keys.ts'
import type { Store, Value } from '../port.ts'
import { transact } from '../transact.ts'
import { bringForward, isReadable, migrations, versionAfter } from './list.ts'
import type { Migration } from './migration.ts'

/** Records per commit. */
const BATCH = 100

/** The records of the storage have another version than this version of Lanekeeper reads. The message says what to do. */
class UnsupportedSchema extends Error {
  override readonly name = 'UnsupportedSchema'
}

export interface MigrationDeps {
  readonly store: Store
  readonly random: RandomSource
  /** all migrations; another list is for tests only */
  readonly list?: readonly Migration[] | undefined
  readonly progress?: ((text: string) => void) | undefined
}

/** What a migration has done. */
export interface MigrationSummary {
  readonly from: number
  readonly to: number
  readonly partitions: number
  /** the records that it has changed */
  readonly records: number
  /** the partitions that could not be read */
  readonly damaged: readonly string[]
}

/**
 * The version of the records of a storage. A storage without data gets the present version.
 * @throws {UnsupportedSchema} when it is newer than the list of migrations, or older than the first release
 * @throws {StorageUnavailable}
 */
export async function readSchema({ store, random, list = migrations }: MigrationDeps): Promise<SchemaRecord> {
  let present = await readSchemaOf(store, GLOBAL, random)
  const current = versionAfter(list)
  if (present === undefined) {
    const isEmpty = (await store.partitions()).length === 0
    if (isEmpty) await writeSchema(store, GLOBAL, random, (other) => other ?? { version: current })
    // Another process that starts at the same time may have written it since.
    present = await readSchemaOf(store, GLOBAL, random)
  }
  if (present === undefined || !isReadable(present.version, list))
    throw new UnsupportedSchema(
      `this storage holds records of ${present === undefined ? 'no version' : `version ${present.version}`}, and this version of Lanekeeper reads version ${current}: use the version of Lanekeeper that wrote them, or another storage`,
    )
  return present
}

/** Whether all records have the present version. */
function isCurrent({ version, pending }: SchemaRecord, list: readonly Migration[] = migrations): boolean {
  return version === versionAfter(list) && pending === undefined
}

/**
 * Requires that the records have the present version. A folder is migrated: this process alone uses it.
 * @throws {UnsupportedSchema}
 */
export async function requireCurrent({ isReadOnly, log, ...deps }: MigrationDeps & { isReadOnly: boolean; log: Logger }): Promise<void> {
  const schema = await readSchema(deps)
  if (isCurrent(schema, deps.list)) return
  const to = versionAfter(deps.list ?? migrations)
  const found = `holds records of version ${schema.version}, and this version of Lanekeeper needs version ${to}`
  // A damaged workspace of an earlier version cannot be read either way.
  if (isReadOnly && schema.version === to) return
  if (isReadOnly) throw new UnsupportedSchema(`this folder ${found}: copy it to a disk that can be written to`)
  if (deps.store.isRemote) throw new UnsupportedSchema(`this Redis ${found}: end all services that use it, and run "lanekeeper migrate"`)
  const summary = await migrateStore(deps)
  if (summary.from !== summary.to) log.info(summary, 'the records were brought to the present version')
}

/**
 * Brings all records of a storage to the present version. It can be stopped at any moment and repeated. No other process may
 * use the storage meanwhile, except for another migration, which does no harm.
 * @throws {UnsupportedSchema} {@link StorageUnavailable}
 */
export async function migrateStore(deps: MigrationDeps): Promise<MigrationSummary> {
  const { store, random, list = migrations, progress = () => undefined } = deps
  const schema = await readSchema(deps)
  const to = versionAfter(list)
  const summary = { from: schema.version, to, partitions: 0, records: 0, damaged: [] as string[] }
  if (isCurrent(schema, list)) return summary
  const pending: Record<string, number> = {}
  // The partition `global` is the last one, because its version is the version of the storage.
  const others = (schema.version === to ? Object.keys(schema.pending!) : await store.partitions())
    .filter((name) => name !== GLOBAL)
    .toSorted()
  for (const partition of [...others, GLOBAL]) {
    let from = schema.pending?.[partition] ?? schema.version
    try {
      summary.records += await store.hold(partition, async () => {
        if (partition !== GLOBAL) from = (await readSchemaOf(store, partition, random))?.version ?? from
        const changed = from < to ? await migratePartition(deps, partition, from) : 0
        if (partition !== GLOBAL) await writeSchema(store, partition, random, () => ({ version: to }))
        return changed
      })
      summary.partitions++
      progress(`${summary.partitions} of ${others.length + 1} partitions, ${summary.records} records changed`)
    } catch (error) {
      if (partition === GLOBAL || store.damaged().includes(partition) !== true) throw error
      pending[partition] = from
      summary.damaged.push(partition)
    }
  }
  await writeSchema(store, GLOBAL, random, () => ({ version: to, ...(summary.damaged.length > 0 && { pending }) }))
  return summary
}

/**
 * Applies the migrations after a version to all records of a partition.
 * @returns how many it has changed
 */
async function migratePartition({ store, random, list }: MigrationDeps, partition: string, from: number): Promise<number> {
  let changed = 0
  for await (const batch of store.scan(partition)) {
    const outdated = batch
      .filter(([key, stored]) => stored !== null && changesOf(key, stored.value, from, list) !== undefined)
      .map(([key]) => key)
    for (let start = 0; start < outdated.length; start += BATCH) {
      const part = outdated.slice(start, start + BATCH)
      changed += await transact(store, partition, random, async (tx) => {
        const values = await tx.read(part as readonly string[])
        const changes = part.flatMap((key, i) => {
          const entries = values[i] === undefined ? undefined : changesOf(key, values[i] as Value, from, list)
          return entries === undefined ? [] : [{ key, entries }]
        })
        await tx.read(changes.flatMap(({ entries }) => entries.map(([key]) => key)))
        for (const { key, entries } of changes) {
          if (!entries.some(([other]) => other === key)) tx.remove(key)
          for (const [other, value] of entries) tx.put(other, value)
        }
        return changes.length
      })
    }
  }
  // The entries of records that have changed: the present code knows only the new ones.
  await rebuildIndexes(store, partition, random)
  const bytes = await sumOfFiles(store, partition)
  await transact(store, partition, random, async (tx) => {
    const present = await tx.get(keys.fileBytes())
    if (bytes !== (present?.bytes ?? 0)) tx.put(keys.fileBytes(), { bytes })
  })
  return changed
}

/** What replaces a record; undefined if it stays as it is. */
function changesOf(key: string, value: Value, from: number, list: readonly Migration[] | undefined) {
  const entries = bringForward(key, value, from, list)
  const [first] = entries
  return entries.length === 1 && first![0] === key && first![1] === value ? undefined : entries
}

async function readSchemaOf(store: Store, partition: string, random: RandomSource): Promise<SchemaRecord | undefined> {
  return transact(store, partition, random, (tx) => tx.get(keys.schema()))
}

/** Writes the version of a partition. */
function writeSchema(
  store: Store,
  partition: string,
  random: RandomSource,
  change: (present: SchemaRecord | undefined) => SchemaRecord,
): Promise<void> {
  return transact(store, partition, random, async (tx) => {
    tx.put(keys.schema(), change(await tx.get(keys.schema())))
  })
}
