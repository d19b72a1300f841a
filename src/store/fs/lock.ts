import { randomInt } from 'node:crypto'
import { access, chmod, lstat, mkdir, readdir, unlink } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { spawn } from 'node:child_process'
import { close, constants, open } from 'node:fs'
import { promisify } from 'node:util'
import { UnusableFolder } from './folder.ts'
import { connectTo, listenAt, requireUsable } from './socket-address.ts'

/**
 * A lock that allows one process per folder. It has two parts. One is a socket in the folder with a listening process.
 * The operating system closes it when the process ends in any way, on Linux and macOS, and also for containers that
 * share the folder. The other one is a lock of the operating system on the folder itself (see {@link takeKernelLock}): it holds
 * when the socket is removed, for example by a program that removes old temporary files. Where there is no such lock,
 * the holder looks for its socket before it acknowledges a commit. The lock does not work across machines: on a network
 * file system, each machine has its own lock.
 *
 * To take the lock, a process listens on a socket with a new name and then probes all other sockets. If one of them
 * answers, the process gives up. Of two processes that start at the same time, the one that listened later finds the
 * other one, so at most one of them gets the lock. Both may give up; each then tries again after a random delay.
 * Names are not reused, so a process that removes dead sockets late cannot remove a live one. Then it takes the lock of
 * the operating system.
 *
 * A second process talks to the holder over the same socket (see `admin/rpc-client.ts`).
 */
export interface FolderLock {
  /** Whether no other process can have taken the lock since. */
  isHeld(): Promise<boolean>
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
  /** the path of the holder's socket; undefined if it was removed */
  readonly socket: string | undefined

  constructor(path: string, socket: string | undefined, holder?: LockHolder) {
    const user = holder === undefined ? 'another process' : `process ${holder.pid}, since ${holder.since}`
    super(`${path} is in use by ${user}${socket === undefined ? `, whose socket in ${path}/run was removed; restart it` : ''}`)
    this.holder = holder
    this.socket = socket
  }
}

/** The names of our sockets. All other files in the folder are ignored. */
const SOCKET_NAME = /^\d{8}\.sock$/
const MAX_ATTEMPTS = 5
/** How long a socket may take to answer a probe, in milliseconds. */
const PROBE_TIMEOUT = 2000

/**
 * Takes the lock of a folder.
 * @param serve handles each later connection, after the {@link LockHolder} has been sent to it
 * @param takeOther takes the lock of the operating system
 * @throws {FolderInUse} when another process holds it
 * @throws {UnusableFolder} when `run` is a symbolic link or not a folder
 * @throws {RangeError} when the path is too long for a socket in it. On Linux, none is.
 */
export async function lockFolder(path: string, serve: (socket: Socket) => void, takeOther = takeKernelLock): Promise<FolderLock> {
  const run = `${path}/run`
  requireUsable(`${run}/99999999.sock`, path)
  await requireOwnFolder(run)
  await makeFolder(run)
  // A process that can connect has all rights of the operator.
  await chmod(run, 0o700)
  for (let attempt = 1; ; attempt++) {
    const holder = await findHolder(run)
    if (holder !== undefined) throw new FolderInUse(path, holder.socket, holder.about)
    const ownSocket = `${run}/${String(randomInt(1e8)).padStart(8, '0')}.sock`
    const stopListening = await listenOn(ownSocket, serve)
    const rival = await findHolder(run, ownSocket)
    const isFirst = stopListening !== undefined && rival === undefined && (await exists(ownSocket))
    const other = isFirst ? await takeOther(path) : undefined
    if (isFirst && other !== 'held') {
      await removeDeadSockets(run, ownSocket)
      return holdWith(stopListening, ownSocket, other === 'unsupported' ? undefined : other)
    }
    stopListening?.()
    if (attempt === MAX_ATTEMPTS) throw new FolderInUse(path, other === 'held' ? undefined : (rival?.socket ?? ownSocket), rival?.about)
    await delay(Math.random() * 50 * attempt)
  }
}

/**
 * Takes the lock of a folder that cannot be written to, and creates no file in it. Several processes can have it for reading;
 * meanwhile none can take it for writing, if the operating system has such a lock.
 * @param takeOther takes the lock of the operating system
 * @throws {FolderInUse} when a process holds it for writing
 */
export async function lockFolderForReading(path: string, takeOther = takeKernelLock): Promise<FolderLock> {
  const holder = await findHolder(`${path}/run`).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (holder !== undefined) throw new FolderInUse(path, holder.socket, holder.about)
  const other = await takeOther(path, 'flock', 'shared')
  if (other === 'held') throw new FolderInUse(path, undefined)
  const release = other === 'unsupported' ? async () => undefined : other.release
  return { isHeld: async () => true, release }
}

function holdWith(stopListening: () => void, socket: string, other: KernelLock | undefined): FolderLock {
  return {
    isHeld: async () => other !== undefined || exists(socket),
    async release() {
      // The socket last: a process that finds the other lock held also finds its holder.
      await other?.release()
      stopListening()
    },
  }
}

/** The files behind a link belong to someone else, and so may its permissions. */
async function requireOwnFolder(run: string): Promise<void> {
  const stats = await lstat(run).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (stats?.isDirectory() === false) throw new UnusableFolder(`${run} must be a folder, and not a symbolic link to one`)
}

async function makeFolder(run: string): Promise<void> {
  try {
    await mkdir(run, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Only where a parent is missing: with `recursive`, the error of a read-only file system is ENOENT too.
    if (code === 'ENOENT') await mkdir(run, { recursive: true, mode: 0o700 })
    else if (code !== 'EEXIST') throw error
  }
}

/** The first socket of the folder that a process listens on. */
async function findHolder(run: string, except?: string): Promise<{ socket: string; about: LockHolder | undefined } | undefined> {
  for (const name of await readdir(run)) {
    const socket = `${run}/${name}`
    if (!SOCKET_NAME.test(name) || socket === except) continue
    const { alive, about } = await probe(socket)
    if (alive) return { socket, about }
  }
  return undefined
}

/**
 * Whether the socket still exists. Between its creation and its first listening, a socket looks dead. A rival may
 * have removed it then and may have given up since, so finding no rival is not sufficient.
 */
function exists(socket: string): Promise<boolean> {
  return access(socket).then(
    () => true,
    () => false,
  )
}

/** A socket is dead when it refuses connections or is missing. In all other cases a process may listen on it. */
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

/** @returns undefined when the line is not JSON: a process other than Lanekeeper also holds the lock */
function parseHolder(line: string): LockHolder | undefined {
  try {
    return JSON.parse(line) as LockHolder
  } catch {
    return undefined
  }
}

/** @returns stops listening; undefined when the socket exists already */
function listenOn(path: string, serve: (socket: Socket) => void): Promise<(() => void) | undefined> {
  const about = JSON.stringify({ pid: process.pid, since: new Date().toISOString() } satisfies LockHolder)
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`${about}\n`)
    serve(socket)
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    const stopListening = listenAt(server, path, () => resolve(stopListening))
  })
}

async function removeDeadSockets(run: string, except: string): Promise<void> {
  for (const entry of await readdir(run, { withFileTypes: true })) {
    const path = `${run}/${entry.name}`
    if (path === except || !SOCKET_NAME.test(entry.name) || !entry.isSocket()) continue
    if (!(await probe(path)).alive) await unlink(path).catch(() => undefined)
  }
}

/**
 * A lock of the operating system (`flock`) on a folder itself, which ends with the process. It does not depend on any
 * file, so removing files does not release it.
 */
export interface KernelLock {
  release(): Promise<void>
}

/** `O_SHLOCK` and `O_EXLOCK` of macOS and the BSDs: the file is locked when it is opened. */
const OPEN_FLAGS = { shared: 0x10, exclusive: 0x20 }
/** The options of flock(1) for the same. */
const PROGRAM_FLAGS = { shared: '-s', exclusive: '-x' }
/** The exit code of flock(1) when another process holds the lock. */
const HELD = 1

/**
 * Takes the lock of a folder. Node has no function for it. On macOS and the BSDs, a flag of `open` takes it. On Linux
 * the program flock(1) of util-linux or BusyBox takes it on a descriptor that it inherits: the lock belongs to the
 * opened file, which this process keeps.
 * @param mode several processes can have a shared lock, and none of them an exclusive one then
 * @returns `held` if another process has it; `unsupported` if the system or its file system has no such lock
 */
export async function takeKernelLock(
  path: string,
  program = 'flock',
  mode: 'shared' | 'exclusive' = 'exclusive',
): Promise<KernelLock | 'held' | 'unsupported'> {
  const isLinux = process.platform === 'linux'
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | (isLinux ? 0 : OPEN_FLAGS[mode] | constants.O_NONBLOCK)
  let descriptor: number
  try {
    // A number: a FileHandle would be closed when it is not referenced any more.
    descriptor = await promisify(open)(path, flags)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'held' : 'unsupported'
  }
  const exitCode = isLinux ? await run(program, PROGRAM_FLAGS[mode], descriptor) : 0
  if (exitCode === 0) {
    let released: Promise<void> | undefined
    // The number may be that of another file once it is closed.
    return { release: () => (released ??= promisify(close)(descriptor)) }
  }
  await promisify(close)(descriptor)
  return exitCode === HELD ? 'held' : 'unsupported'
}

/** @returns the exit code; null when the program is missing or was killed */
function run(program: string, flag: string, descriptor: number): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(program, [flag, '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
    child.on('error', () => resolve(null))
    child.on('exit', resolve)
  })
}
