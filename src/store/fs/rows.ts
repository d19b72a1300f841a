import { crc32 } from 'node:zlib'
import { ADVICE, StorageDamaged } from './damage.ts'
import { checkGeneration, databaseIn, TABLES } from './folder.ts'
import { CORRUPT, NOT_A_DATABASE, openDatabase, resultOf, type DatabaseSync } from './sqlite.ts'

/** A partition as its row tells. */
export interface PartitionRow {
  readonly id: number
  readonly name: string
  /** how many records it has */
  readonly rows: number
  /** the revision of its last commit */
  readonly revision: string
}

/** A record as its row tells. `value` is JSON. */
export interface RecordRow {
  readonly number: number
  readonly key: string
  readonly revision: string
  readonly value: string
}

/** Records that are read in one step, at most; and the bytes that they may have if they are as long as those before. */
const STEP = 1000
const STEP_BYTES = 1024 * 1024

/** The checksum of the members of a row: SQLite notices a damaged page, and not a changed letter in a text. */
export function checksumOf(...members: readonly (string | number)[]): number {
  return crc32(members.join('\n'))
}

const isIntact = ({ name, rows, revision, checksum }: PartitionRow & { checksum: number }) => checksum === checksumOf(name, rows, revision)

/**
 * Reads which partitions there are, and checks what a start needs: the tables, and that each partition is there.
 * @param path of the folder
 * @throws {StorageDamaged}
 */
export function readPartitions(database: DatabaseSync, path: string): PartitionRow[] {
  const file = databaseIn(path)
  return toldAs(`${file} is damaged`, () => {
    // A program that replicates the file may have tables of its own.
    const tables = new Set((database.prepare('SELECT sql FROM sqlite_schema').all() as { sql: string | null }[]).map(({ sql }) => sql))
    if (!TABLES.every((sql) => tables.has(sql))) throw new StorageDamaged(`${file} is damaged: its tables are not Lanekeeper's; ${ADVICE}`)
    const rows = database
      .prepare('SELECT id, name, rows, revision, checksum FROM partitions ORDER BY id')
      .all() as never as (PartitionRow & {
      checksum: number
    })[]
    const { partitions, generation } = database.prepare('SELECT * FROM folder').get() as { partitions: number; generation: number }
    checkGeneration(path, generation)
    if (rows.length !== partitions || rows.some((row, i) => row.id !== i + 1 || !isIntact(row)))
      throw new StorageDamaged(`${file} is damaged: its list of workspaces has lost rows, or has changed ones; ${ADVICE}`)
    return rows
  })
}

/**
 * Reads the records of a partition in steps, in the order of their numbers, and checks that none is damaged or lost.
 * @returns the rows; undefined if there is no such partition
 * @throws {StorageDamaged} also after some of the steps
 */
export function* readRecords(
  database: DatabaseSync,
  path: string,
  name: string,
): Generator<readonly RecordRow[], PartitionRow | undefined> {
  const where = `${databaseIn(path)} is damaged in the workspace ${name}`
  const partition = toldAs(where, () => database.prepare('SELECT * FROM partitions WHERE name = ?').get(name)) as
    | (PartitionRow & { checksum: number })
    | undefined
  if (partition === undefined) return undefined
  if (!isIntact(partition)) throw new StorageDamaged(`${where}: its row in the list of workspaces; ${ADVICE}`)
  const step = database.prepare(
    'SELECT number, key, revision, value, checksum FROM records WHERE partition = ? AND number > ? ORDER BY number LIMIT ?',
  )
  let [after, count, limit] = [-1, 0, 50]
  for (;;) {
    const rows = toldAs(where, () => step.all(partition.id, after, limit)) as never as (RecordRow & { checksum: number })[]
    for (const { number, key, revision, value, checksum } of rows)
      if (number <= after || checksum !== checksumOf(key, revision, value))
        throw new StorageDamaged(`${where}: the record ${key}; ${ADVICE}`)
      else after = number
    count += rows.length
    yield rows
    if (rows.length < limit) break
    const bytes = rows.reduce((sum, { value }) => sum + value.length, 0)
    limit = Math.min(STEP, Math.max(1, Math.floor((STEP_BYTES * rows.length) / bytes)))
  }
  if (count !== partition.rows) throw new StorageDamaged(`${where}: it has ${count} records of ${partition.rows}; ${ADVICE}`)
  return partition
}

/** Damage of a partition, or of the file as a whole. */
export interface FoundDamage {
  readonly partition?: string
  readonly message: string
}

/** Finds all damage of a folder, as it is at one moment. It reads everything, which takes long. */
export function findDamageIn(path: string): FoundDamage[] {
  const database = openDatabase(databaseIn(path), { readOnly: true })
  try {
    return findDamage(database, path)
  } finally {
    database.close()
  }
}

/** The same in an open database. */
export function findDamage(database: DatabaseSync, path: string): FoundDamage[] {
  const found: FoundDamage[] = []
  database.exec('BEGIN')
  try {
    for (const { name } of readPartitions(database, path)) {
      try {
        const steps = readRecords(database, path, name)
        while (steps.next().done !== true);
      } catch (error) {
        if (!(error instanceof StorageDamaged)) throw error
        found.push({ partition: name, message: error.message })
      }
    }
    const lines = toldAs(`${databaseIn(path)} is damaged`, () => database.prepare('PRAGMA integrity_check(10)').all())
    for (const { integrity_check: message } of lines as { integrity_check: string }[])
      if (message !== 'ok') found.push({ message: `${databaseIn(path)} is damaged: ${message}` })
  } catch (error) {
    if (!(error instanceof StorageDamaged)) throw error
    found.push({ message: error.message })
  } finally {
    database.exec('ROLLBACK')
  }
  return found
}

/** @throws {StorageDamaged} with this beginning, if SQLite finds damage */
export function toldAs<T>(beginning: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const result = resultOf(error)
    if (result !== CORRUPT && result !== NOT_A_DATABASE) throw error
    throw new StorageDamaged(`${beginning}: ${(error as Error).message}; ${ADVICE}`, { cause: error })
  }
}
