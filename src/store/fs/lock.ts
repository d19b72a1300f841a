import { randomInt } from 'node:crypto'
import { access, chmod, mkdir, readdir, unlink } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'

/**
 * One process per folder. Node has no flock, so the lock is a socket in the folder that somebody listens on: it
 * dies with its process, however that ends, on Linux and macOS alike, and across containers that share the
 * folder. (Not across machines: a folder on a network file system is guarded on each machine for itself.)
 *
 * Whoever wants the lock listens on a socket of a new name and then looks at all others. If one of them answers,
 * he goes away. Of two who come at once, the one who listened later sees the other: so at most one stays. Both may
 * go away; then each tries again after a while of its own length. No name is used twice, so nobody who tidies up
 * late removes what is another's by now.
 *
 * The same socket is how a second process talks to the holder (see `operator/remote.ts`).
 */
export interface FolderLock {
  release(): Promise<void>
}

/** What a holder says of itself to whoever connects. */
export interface LockHolder {
  readonly pid: number
  readonly since: string
}

/** Somebody has the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
  readonly holder: LockHolder | undefined
  /** where the holder listens */
  readonly socket: string

  constructor(path: string, socket: string, holder: LockHolder | undefined) {
    super(`${path} is in use by ${holder === undefined ? 'another process' : `process ${holder.pid}, since ${holder.since}`}`)
    this.holder = holder
    this.socket = socket
  }
}

/** Longer socket paths are cut off by the system without a word, on macOS even earlier than on Linux. */
const MAX_PATH = 103
const ATTEMPTS = 5
const ANSWER_WITHIN = 2000

/** @throws {RangeError} where the path is too long for a socket in it */
export function runFolder(path: string): string {
  const run = `${path}/run`
  const longest = `${run}/99999999.sock`
  if (Buffer.byteLength(longest) > MAX_PATH)
    throw new RangeError(`${path} is too long: a socket in it may have ${MAX_PATH} bytes, and this one has ${Buffer.byteLength(longest)}`)
  return run
}

/**
 * Takes the lock of a folder.
 * @param serve answers whoever connects later, after it was told who holds the lock
 * @throws {FolderInUse} naming the holder
 * @throws {RangeError} where the path is too long
 */
export async function lockFolder(path: string, serve: (socket: Socket) => void): Promise<FolderLock> {
  const run = runFolder(path)
  await mkdir(run, { recursive: true, mode: 0o700 })
  // Whoever can connect can do what the operator can.
  await chmod(run, 0o700)
  for (let attempt = 1; ; attempt++) {
    const holder = await findHolder(run)
    if (holder !== undefined) throw new FolderInUse(path, holder.socket, holder.about)
    const own = `${run}/${String(randomInt(1e8)).padStart(8, '0')}.sock`
    const server = await listenOn(own, serve)
    const rival = await findHolder(run, own)
    if (server !== undefined && rival === undefined && (await exists(own))) {
      await removeDead(run, own)
      return { release: async () => close(server) }
    }
    if (server !== undefined) close(server)
    if (attempt === ATTEMPTS) throw new FolderInUse(path, rival?.socket ?? own, rival?.about)
    await after(Math.random() * 50 * attempt)
  }
}

/** Who listens on a socket of the folder, if anyone. */
async function findHolder(run: string, except?: string): Promise<{ socket: string; about: LockHolder | undefined } | undefined> {
  for (const name of await readdir(run)) {
    const socket = `${run}/${name}`
    if (!/^\d{8}\.sock$/.test(name) || socket === except) continue
    const { alive, about } = await probe(socket)
    if (alive) return { socket, about }
  }
  return undefined
}

/**
 * Between its making and its listening a socket looks like a dead one. A rival may have removed it then, and have
 * gone away since: so whoever saw no rival looks whether others can see him.
 */
function exists(own: string): Promise<boolean> {
  return access(own).then(
    () => true,
    () => false,
  )
}

/** Nobody listens where the connection is refused; whatever else happens, somebody may. */
function probe(path: string): Promise<{ alive: boolean; about?: LockHolder }> {
  return new Promise((resolve) => {
    const socket = connect(path)
    let text = ''
    const end = (alive: boolean, about?: LockHolder): void => {
      socket.destroy()
      clearTimeout(timer)
      resolve(about === undefined ? { alive } : { alive, about })
    }
    const timer = setTimeout(() => end(true), ANSWER_WITHIN)
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'))
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data
      if (text.includes('\n')) end(true, read(text.split('\n')[0]!))
    })
    socket.on('end', () => end(true))
  })
}

/** Whatever answers there holds the folder, also where it is no Lanekeeper. */
function read(line: string): LockHolder | undefined {
  try {
    return JSON.parse(line) as LockHolder
  } catch {
    return undefined
  }
}

function listenOn(path: string, serve: (socket: Socket) => void): Promise<Server | undefined> {
  const about = JSON.stringify({ pid: process.pid, since: new Date().toISOString() } satisfies LockHolder)
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`${about}\n`)
    serve(socket)
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(path, () => resolve(server))
  })
}

async function removeDead(run: string, own: string): Promise<void> {
  for (const name of await readdir(run)) {
    const path = `${run}/${name}`
    if (path !== own && !(await probe(path)).alive) await unlink(path).catch(() => undefined)
  }
}

/** Removes the socket too. Who is connected is let go. */
function close(server: Server): void {
  server.close()
}
