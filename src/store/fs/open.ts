import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { realDisk, replaceFile, type Disk } from './disk.ts'
import { readJournal } from './journal.ts'
import { FsStore, type Backlog } from './store.ts'
import { JournalWriter } from './writer.ts'

/** The layout of the folder, and of every file in it. A folder of a newer one is refused. */
const FORMAT = 2
/** So much journal is a reason to write checkpoints, in bytes. */
const COMPACT_AT = 16 * 1024 * 1024
/** What may be in a folder before its format is written down: an earlier start may have died in the middle. */
const OWN = new Set(['journal', 'records', 'bytes', 'run', '.format.json.tmp'])

export interface FsStoreOptions {
  readonly log: Logger
  readonly disk?: Disk
  readonly compactAt?: number
}

/** The folder cannot be used as it is. Its message says why. */
export class UnusableFolder extends Error {
  override readonly name = 'UnusableFolder'
}

/**
 * Records in a folder. What is committed is in the journal, synced, before anyone is told or shown; checkpoints
 * keep the journal short. A partition is read into memory when it is asked for first. One process per folder.
 * @throws {UnusableFolder} where it is another program's, or of a newer format
 * @throws {Damaged} where something else than a crash has changed it
 */
export async function openFsStore(path: string, { log, disk = realDisk, compactAt = COMPACT_AT }: FsStoreOptions): Promise<FsStore> {
  if (!(await checkFolder(path, disk))) await makeFolder(disk, path)
  const journal = `${path}/journal`
  const { frames, last, size } = await readJournal(disk, journal)
  const backlog: Backlog = new Map()
  for (const { sequence, entries } of frames) {
    for (const entry of entries)
      (backlog.get(entry.partition) ?? backlog.set(entry.partition, []).get(entry.partition)!).push({ sequence, entry })
  }
  // An empty file tells by its name where the numbers go on.
  const sequence = frames.at(-1)?.sequence ?? (last === undefined ? 0 : Number.parseInt(last, 10) - 1)
  const writer = await JournalWriter.open(disk, journal, { last, sequence, written: size })
  const store = new FsStore(path, disk, log, compactAt, writer, backlog)
  // Starts that follow each other quickly must not make it ever longer.
  if (size > compactAt) void store.compact()
  return store
}

/**
 * Looks whether a folder can be used, and changes nothing.
 * @returns whether it has been used before
 * @throws {UnusableFolder} where it cannot be
 */
export async function checkFolder(path: string, disk: Disk = realDisk): Promise<boolean> {
  const found = await disk.read(`${path}/format.json`)
  if (found === undefined) {
    const foreign = (await disk.list(path)).filter((name) => !OWN.has(name))
    // Somebody may have made it between the two.
    if (foreign.includes('format.json')) return checkFolder(path, disk)
    if (foreign.length > 0)
      throw new UnusableFolder(`${path} is not empty, and holds no Lanekeeper data: ${foreign.slice(0, 3).join(', ')}`)
    return false
  }
  const lanekeeper = /^\{"lanekeeper":(\d+)\}\n$/.exec(found.toString())?.[1] ?? 'that cannot be read'
  if (lanekeeper !== String(FORMAT))
    throw new UnusableFolder(`${path} has format ${lanekeeper}; this version of Lanekeeper knows format ${FORMAT}`)
  return true
}

/** Makes a folder to be used. That it was is written down last: by then all that is needed survives a crash. */
async function makeFolder(disk: Disk, path: string): Promise<void> {
  for (const folder of [path, `${path}/journal`, `${path}/records`]) await disk.makeFolder(folder)
  await disk.syncFolder(path)
  // Each folder is a name in another one, and this or an earlier start may have made any of them.
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) await disk.syncFolder(dirname(folder)).catch(unlessForeign)
  await replaceFile(disk, path, 'format.json', [Buffer.from(`${JSON.stringify({ lanekeeper: FORMAT })}\n`)])
}

// Folders far above may be closed to us; then we did not make them either.
function unlessForeign(error: NodeJS.ErrnoException): void {
  if (!['EACCES', 'EPERM', 'EINVAL', 'EROFS'].includes(error.code ?? '')) throw error
}
