import { closeSync, existsSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ADVICE, StorageDamaged } from './damage.ts'
import { assertSynced, realDisk } from './disk.ts'
import { damageOfLog, PAGE_SIZE } from './log-damage.ts'

/** Tells that a database is one of Lanekeeper: "Lane" in ASCII. https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION = 0x4c616e65
/** The layout of the folder and of its tables. Earlier ones had a file `format.json`. */
const FORMAT = 4
/** Names that may exist without a database: an earlier first start may have crashed. */
const KNOWN_NAMES = /^(records\.db\.new(-journal|-wal|-shm)?|run|bytes|reserve|secret\.key)$/

/**
 * The tables. A record keeps its number, which is given in the order of creation: records that are written together share pages. A row of
 * `partitions` has what must be known to find lost rows: how many there are, and the last revision; its checksum is of all three.
 * `partitions` in `folder` is their number, and `generation` the number of the log (see {@link checkGeneration}). The index is for the
 * tombstones of workspaces that are not in memory.
 */
export const TABLES: readonly string[] = [
  'CREATE TABLE folder (generation INTEGER NOT NULL, partitions INTEGER NOT NULL)',
  'CREATE TABLE partitions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL, revision TEXT NOT NULL, checksum INTEGER NOT NULL)',
  'CREATE TABLE records (partition INTEGER, number INTEGER, key TEXT NOT NULL, revision TEXT NOT NULL, value TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (partition, number)) WITHOUT ROWID',
  "CREATE INDEX tombstones ON records (partition, value ->> '$.not_before') WHERE key >= 'tombstone:' AND key < 'tombstone;'",
]

/** The folder cannot be used as storage. The message gives the reason. */
export class UnusableFolder extends Error {
  override readonly name = 'UnusableFolder'
}

/** Identifies a file; empty if it does not exist. */
export function idOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.dev} ${stats.ino}`
}

/** The file of all records. */
export const databaseIn = (path: string): string => `${path}/records.db`

/**
 * Checks that a folder can be used as storage, before SQLite opens it. Changes nothing.
 * @returns whether it has been used before
 * @throws {UnusableFolder} when it belongs to another program or has another format
 */
export async function checkFolder(path: string): Promise<boolean> {
  const file = databaseIn(path)
  if (existsSync(file)) {
    await checkHeader(file)
    return true
  }
  const names = await realDisk.list(path)
  if (names.includes('format.json'))
    throw new UnusableFolder(
      `${path} has an earlier format: make a backup with the version of Lanekeeper that wrote it, and restore it into another folder`,
    )
  const left = names.find((name) => name === 'generation' || /^records\.db-(wal|shm|journal)$/.test(name))
  if (left !== undefined && !names.includes('records.db'))
    throw new StorageDamaged(`${file} is missing, and ${left} is there: put it back, or ${ADVICE}`)
  const foreign = names.filter((name) => !KNOWN_NAMES.test(name))
  // Another process may have created it between the two looks.
  if (foreign.includes('records.db')) return checkFolder(path)
  if (foreign.length > 0)
    throw new UnusableFolder(`${path} is not empty and contains no Lanekeeper data: ${foreign.slice(0, 3).join(', ')}`)
  return false
}

/** The header has the numbers of the application and of the format (https://sqlite.org/fileformat2.html#the_database_header). */
async function checkHeader(file: string): Promise<void> {
  // SQLite has the log beside the file that a link names, where nobody looks for it.
  if (!(await lstat(file)).isFile()) throw new UnusableFolder(`${file} must be a file, and not a symbolic link to one`)
  const header = Buffer.alloc(100)
  const handle = await open(file)
  await handle.read(header).finally(() => handle.close())
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') throw new StorageDamaged(`${file} is not a database; ${ADVICE}`)
  if (header.readUInt32BE(68) !== APPLICATION) throw new UnusableFolder(`${file} belongs to another program`)
  if (header.readUInt16BE(16) !== PAGE_SIZE)
    throw new UnusableFolder(
      `${file} must have pages of ${PAGE_SIZE} bytes: PRAGMA journal_mode = DELETE; PRAGMA page_size = ${PAGE_SIZE}; VACUUM`,
    )
  // A crash during a checkpoint leaves a file that the log completes.
  if (header.readUInt32BE(28) * PAGE_SIZE > sizeOf(file) && sizeOf(`${file}-wal`) === 0)
    throw new StorageDamaged(`${file} is damaged: its end is missing; ${ADVICE}`)
  const format = header.readUInt32BE(60)
  if (format !== FORMAT)
    throw new UnusableFolder(
      `${file} has format ${format}, and this version of Lanekeeper reads format ${FORMAT}: use the version of Lanekeeper that wrote it, or another folder`,
    )
}

/**
 * Looks at the log, before SQLite takes over what it can read of it: without a word, it leaves out everything after a damaged place.
 * @returns `isTorn`: its last transaction is incomplete, as a crash leaves it
 * @throws {StorageDamaged}
 */
export function checkLog(path: string): { readonly exists: boolean; readonly isTorn: boolean } {
  const file = `${databaseIn(path)}-wal`
  if (!existsSync(file)) return { exists: false, isTorn: false }
  const descriptor = openSync(file, 'r')
  try {
    // In parts: a log that nobody could write to the database may have any size.
    const read = (at: number, length: number) => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, at))
    }
    const damage = damageOfLog(sizeOf(file), read)
    if (damage === 'damaged') throw new StorageDamaged(`${file} is damaged: it has changes after a place that cannot be read; ${ADVICE}`)
    return { exists: true, isTorn: damage === 'torn' }
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Checks that the log is not lost. The first transaction of each log has its generation, which then is in a file too. A database that is
 * behind this file has lost a log. No other program needs to know that: when it takes over a log, the generation comes with it.
 * @param generation the database's and its log's
 * @throws {StorageDamaged}
 */
export function checkGeneration(path: string, generation: number): void {
  const file = `${path}/generation`
  if (!existsSync(file)) return
  if (!(generation >= Number(readFileSync(file, 'utf8').trim() || NaN)))
    throw new StorageDamaged(
      `${databaseIn(path)}-wal is missing, or ${databaseIn(path)} is an earlier one: put back what is missing, or ${ADVICE}. If it was restored, remove the files ${file} and ${databaseIn(path)}-wal`,
    )
}

/**
 * Writes the generation of the log, after its first transaction. Synced: without its content, the folder would be refused after a power
 * loss.
 */
export function writeGeneration(path: string, generation: number): void {
  const file = `${path}/.generation`
  rmSync(file, { force: true })
  writeFileSync(file, `${generation}\n`, { flag: 'wx', mode: 0o600, flush: true })
  renameSync(file, `${path}/generation`)
}

/** Creates the folder and an empty database, which gets its name when it survives a crash. */
export async function createFolder(path: string): Promise<void> {
  const { openDatabase } = await import('./sqlite.ts')
  await realDisk.makeFolder(path)
  await syncParents(path)
  const file = `${databaseIn(path)}.new`
  for (const suffix of ['', '-journal', '-wal', '-shm']) await realDisk.remove(file + suffix)
  // SQLite gives its other files the same permissions.
  const handle = await realDisk.create(file)
  try {
    const database = openDatabase(file)
    try {
      // Synced as a whole, before it gets its name.
      database.exec(
        `PRAGMA page_size = ${PAGE_SIZE}; PRAGMA synchronous = OFF; BEGIN; ${TABLES.join(';')}; INSERT INTO folder VALUES (0, 0); COMMIT`,
      )
      database.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${FORMAT}; PRAGMA journal_mode = WAL`)
    } finally {
      database.close()
    }
    await assertSynced(handle.sync())
  } finally {
    await handle.close()
  }
  await realDisk.rename(file, databaseIn(path))
  await assertSynced(realDisk.syncFolder(path))
}

/** This start, or an earlier one that crashed, may have created any of the parents. */
async function syncParents(path: string): Promise<void> {
  await realDisk.syncFolder(path)
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder))
    await realDisk.syncFolder(dirname(folder)).catch(unlessInaccessible)
}

const INACCESSIBLE = new Set<string | undefined>(['EACCES', 'EPERM', 'EINVAL', 'EROFS'])

/** Ignores parents that this process cannot access: it did not create them. */
function unlessInaccessible(error: NodeJS.ErrnoException): void {
  if (!INACCESSIBLE.has(error.code)) throw error
}

/** The size of a file in bytes. 0 when it is missing. Opening and closing a file would end the locks that SQLite has on it. */
export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
