import type {
  DatabaseSync as Constructor,
  DatabaseSyncInstance as DatabaseSync,
  StatementSyncInstance as StatementSync,
} from '@photostructure/sqlite'
import { losesCommits } from './sqlite-version.ts'

// Node.js has it from 22.13 on. The package has the same interface for Node.js 20, and for versions whose SQLite can lose commits.
const { DatabaseSync: Database } = (builtinModule(process.versions['sqlite']) ?? (await import('@photostructure/sqlite'))) as {
  readonly DatabaseSync: typeof Constructor
}

/**
 * The SQLite of Node.js, if it can be used. Node.js 22 and 24 warn that it may change: each command would print that, and nobody who reads
 * it could do anything.
 * @param version of it; undefined: Node.js has none
 * @returns undefined: the package has to be used
 */
export function builtinModule(version: string | undefined): unknown {
  if (losesCommits(version)) return undefined
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** The version of the SQLite that is used. */
export function sqliteVersion(): string {
  const database = new Database(':memory:')
  try {
    return (database.prepare('SELECT sqlite_version() AS version').get() as { version: string }).version
  } finally {
    database.close()
  }
}

export type { DatabaseSync, StatementSync }

/** How long a statement waits for another program that has the file, in milliseconds. */
export const TIMEOUT = 2000

/**
 * Opens a database, or creates an empty one. The caller must keep the object: a database whose statements alone are referenced is closed by
 * the garbage collection.
 * @param options `readOnly`: nothing is written but the files of the log, which other programs share. `immutable`: not even these.
 * @throws an error of SQLite (see {@link resultOf})
 */
export function openDatabase(path: string, { readOnly = false, immutable = false, timeout = TIMEOUT } = {}): DatabaseSync {
  const name = immutable ? new URL(`file:${encodeURI(path).replaceAll(/[?#]/g, encodeURIComponent)}?immutable=1`) : path
  return new Database(name, { readOnly: readOnly || immutable, timeout })
}

/** Result codes of SQLite. https://sqlite.org/rescode.html */
export const BUSY = 5
export const READONLY = 8
export const CORRUPT = 11
export const FULL = 13
export const NOT_A_DATABASE = 26

/** The result code of an error of SQLite, without what extends it; undefined for any other error. */
export function resultOf(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: number }
  return errcode === undefined ? undefined : errcode & 0xff
}

const CODES = new Set<string | undefined>(['EROFS', 'EACCES', 'EPERM'])

/** Whether an error means that a folder cannot be written to, or not by this user. */
export function isReadOnlyError(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code) || resultOf(error) === READONLY
}
