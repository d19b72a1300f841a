import type {
  DatabaseSync as Constructor,
  DatabaseSyncInstance as DatabaseSync,
  StatementSyncInstance as StatementSync,
} from '@photostructure/sqlite'

// Node.js has it from 22.13 on, and the package has the same interface for Node.js 20.
const { DatabaseSync: Database } = (builtinModule() ?? (await import('@photostructure/sqlite'))) as {
  readonly DatabaseSync: typeof Constructor
}

/** Node.js 22 and 24 warn that it may change. Each command would print that, and nobody who reads it could do anything. */
function builtinModule(): unknown {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
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
