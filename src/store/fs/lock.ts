import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { idOf, UnusableFolder } from './folder.ts'
import { connectTo, listenAt, requireUsable } from './socket-address.ts'
import type { DatabaseSync } from './sqlite.ts'

/**
 * A lock that allows one process per folder: an exclusive transaction of SQLite on `run/lock.db`, which the operating system ends with the
 * process. Its holder listens on a socket, where a second process sends its commands (see `admin/rpc-client.ts`). The lock does not work
 * across machines: on a network file system, each machine may have its own. If the file of the lock is removed or replaced, a second
 * process can open the folder: so the holder looks for that file twice a second.
 */
export interface FolderLock {
  /** @returns whether its file was removed or replaced: another process may have the folder */
  isLost(): boolean
  release(): Promise<void>
}

/** What a holder sends to each connecting process. */
export interface LockHolder {
  readonly pid: number
  /** ISO 8601 */
  readonly since: string
}

/** Another process holds the lock of the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
  readonly holder: LockHolder | undefined
  /** the path of the holder's socket; undefined if it does not answer */
  readonly socket: string | undefined

  constructor(path: string, socket: string | undefined, holder?: LockHolder) {
    const user = holder === undefined ? 'another process' : `process ${holder.pid}, since ${holder.since}`
    super(`${path} is in use by ${user}${socket === undefined ? ', which does not answer at its socket in the folder `run`' : ''}`)
    this.holder = holder
    this.socket = socket
  }
}

/** How often the holder of a lock is asked. It listens a moment after it has taken the lock, and no longer when it gives it up. */
const ATTEMPTS = 10
/** How long to wait before it is asked again, in milliseconds. */
const PAUSE = 50
/** What SQLite takes of a path, in bytes. */
const MAX_PATH = 511
/** How often the holder looks whether the file of the lock is still there, in milliseconds. */
const LOOK = 500
/** How long a socket may take to answer, in milliseconds. */
const PROBE_TIMEOUT = 2000

/**
 * Takes the lock of a folder.
 * @param serve handles each later connection, after the {@link LockHolder} has been sent to it
 * @param onLost is called once, when the file of the lock was removed or replaced
 * @throws {FolderInUse} when another process holds it
 * @throws {UnusableFolder} when `run` is a symbolic link or not a folder
 * @throws {RangeError} when the path is too long for a socket in it. On Linux, none is.
 */
export async function lockFolder(path: string, serve: (socket: Socket) => void, onLost: () => void = () => undefined): Promise<FolderLock> {
  const run = `${path}/run`
  const socket = `${run}/service.sock`
  requireUsable(socket, path)
  if (Buffer.byteLength(`${path}/records.db.new-journal`) > MAX_PATH)
    throw new RangeError(`${path} is too long: the path of a database in it is limited to ${MAX_PATH} bytes`)
  await makeOwnFolder(run)
  const unlock = await takeLock(path, 'EXCLUSIVE')
  try {
    // A killed process left it.
    await rm(socket, { force: true })
    const stopListening = await listenOn(socket, serve)
    const watch = watchFile(`${path}/run/lock.db`, onLost)
    return {
      isLost: () => watch.isLost,
      async release() {
        watch.end()
        // The socket may belong to the other process by now.
        if (!watch.isLost) stopListening()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * Takes the lock of a folder that cannot be written to, and creates no file in it. Several processes can have it for reading, and meanwhile
 * none for writing. A folder whose lock was never taken, such as a copy, needs none.
 * @throws {FolderInUse} when a process holds it for writing
 */
export async function lockFolderForReading(path: string): Promise<FolderLock> {
  if (!existsSync(`${path}/run/lock.db`)) return { isLost: () => false, release: async () => undefined }
  const unlock = await takeLock(path, 'SHARED')
  return { isLost: () => false, release: async () => unlock() }
}

/** Looks whether a path names the same file all the time. The file is open, so no other one can have its number. */
function watchFile(path: string, onLost: () => void): { readonly isLost: boolean; end(): void } {
  const id = idOf(path)
  const watch = { isLost: false, end: () => clearInterval(timer) }
  const timer = setInterval(() => {
    if (idOf(path) === id) return
    watch.isLost = true
    watch.end()
    onLost()
  }, LOOK).unref()
  return watch
}

/** The databases of the locks that are held. The garbage collection would close one that nobody refers to. */
const held = new Set<DatabaseSync>()

/**
 * @returns gives the lock up
 * @throws {FolderInUse}
 */
async function takeLock(path: string, mode: 'EXCLUSIVE' | 'SHARED'): Promise<() => void> {
  // Loaded when it is used: a command on another storage starts faster without it.
  const { BUSY, NOT_A_DATABASE, openDatabase, resultOf } = await import('./sqlite.ts')
  const begin = (): (() => void) => {
    const database = openDatabase(`${path}/run/lock.db`, { readOnly: mode === 'SHARED', timeout: 0 })
    try {
      // Without a file for the journal: it would have no use.
      database.exec('PRAGMA journal_mode = MEMORY')
      // A transaction has a shared lock from its first read on.
      database.exec(mode === 'EXCLUSIVE' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema')
      held.add(database)
      return () => (held.delete(database), database.close())
    } catch (error) {
      database.close()
      throw error
    }
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return begin()
    } catch (error) {
      if (resultOf(error) === NOT_A_DATABASE) throw new UnusableFolder(`${path}/run/lock.db is not a lock of Lanekeeper: remove it`)
      if (resultOf(error) !== BUSY) throw error
    }
    const socket = `${path}/run/service.sock`
    const found = await probe(socket)
    if (found.alive) throw new FolderInUse(path, socket, found.about)
    if (attempt === ATTEMPTS) throw new FolderInUse(path, undefined)
    await delay(PAUSE)
  }
}

/** Makes a folder for the owner alone: a process that can connect has all rights of the operator. */
async function makeOwnFolder(run: string): Promise<void> {
  try {
    await mkdir(run, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Only where a parent is missing: with `recursive`, the error of a read-only file system is ENOENT too.
    if (code === 'ENOENT') await mkdir(run, { recursive: true, mode: 0o700 })
    else if (code !== 'EEXIST') throw error
  }
  // The files behind a link belong to someone else, and so may its permissions.
  if (!(await lstat(run)).isDirectory()) throw new UnusableFolder(`${run} must be a folder, and not a symbolic link to one`)
  await chmod(run, 0o700)
}

/** Whether a process listens on a socket, and what it says. */
function probe(path: string): Promise<{ alive: boolean; about: LockHolder | undefined }> {
  return new Promise((resolve) => {
    const socket = connectTo(path)
    let text = ''
    const finish = (alive: boolean, about?: LockHolder): void => {
      socket.destroy()
      clearTimeout(timer)
      resolve({ alive, about })
    }
    const timer = setTimeout(() => finish(true), PROBE_TIMEOUT)
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'))
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data
      if (text.includes('\n')) finish(true, parseHolder(text.split('\n')[0]!))
    })
    socket.on('end', () => finish(true))
  })
}

/** @returns undefined when the line is not JSON: a process other than Lanekeeper listens */
function parseHolder(line: string): LockHolder | undefined {
  try {
    return JSON.parse(line) as LockHolder
  } catch {
    return undefined
  }
}

/** @returns stops listening */
function listenOn(path: string, serve: (socket: Socket) => void): Promise<() => void> {
  const about = JSON.stringify({ pid: process.pid, since: new Date().toISOString() } satisfies LockHolder)
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`${about}\n`)
    serve(socket)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const stopListening = listenAt(server, path, () => resolve(stopListening))
  })
}
