import { createDerivations } from '../../src/resources/derived.ts'
import { openDatabase } from '../../src/store/fs/sqlite.ts'
import { openFsStore, type FsStore, type FsStoreOptions } from '../../src/store/fs/store.ts'
import { entriesOfCommits } from './commits.ts'
import { quiet } from './log.ts'

/** Opens a folder without its lock, whose index entries come from {@link entriesOfCommits}. */
export function openFolder(path: string, options: Partial<FsStoreOptions> = {}): Promise<FsStore> {
  return openFsStore(path, { log: quiet, derived: createDerivations(), entriesOf: entriesOfCommits, ...options })
}

/** The keys of all records of a partition. */
export async function keysOf(store: FsStore, partition = 'p1'): Promise<string[]> {
  const keys: string[] = []
  for await (const batch of store.dump(partition)) keys.push(...batch.map(([key]) => key))
  return keys
}

/** Adds a letter to a record of a partition in the file, as a failing disk does: SQLite does not notice it. Doing it again mends it. */
export function damageRecord(path: string, partition: string): void {
  const database = openDatabase(`${path}/records.db`)
  const { id } = database.prepare('SELECT id FROM partitions WHERE name = ?').get(partition) as { id: number }
  database
    .prepare(`UPDATE records SET value = iif(value LIKE ' %', trim(value), ' ' || value)
      WHERE partition = ? AND number = (SELECT min(number) FROM records WHERE partition = ?)`)
    .run(id, id)
  database.close()
}
