import { dirname } from 'node:path'
import { realDisk, replaceFile, type Disk } from './disk.ts'
import { EMPTY_MANIFEST, writeManifest } from './manifest.ts'

/** The layout of the folder and of every file in it. */
const FORMAT = 3
/** Names that may exist before `format.json` is written: an earlier first start may have crashed. */
const KNOWN_NAMES = new Set(['journal', 'records', 'bytes', 'run', 'manifest.json', '.manifest.json.tmp', '.format.json.tmp'])

/** The folder cannot be used as storage. The message gives the reason. */
export class UnusableFolder extends Error {
  override readonly name = 'UnusableFolder'
}

/**
 * Checks that a folder can be used as storage. Changes nothing.
 * @returns whether it has been used before
 * @throws {UnusableFolder} when it belongs to another program or has another format
 */
export async function checkFolder(path: string, disk: Disk = realDisk): Promise<boolean> {
  const content = await disk.read(`${path}/format.json`)
  if (content === undefined) {
    const foreign = (await disk.list(path)).filter((name) => !KNOWN_NAMES.has(name))
    // Another process may have created it between the two reads.
    if (foreign.includes('format.json')) return checkFolder(path, disk)
    if (foreign.length > 0)
      throw new UnusableFolder(`${path} is not empty and contains no Lanekeeper data: ${foreign.slice(0, 3).join(', ')}`)
    return false
  }
  const format = Number(/^\{"lanekeeper":(\d+)\}\n$/.exec(content.toString())?.[1])
  if (Number.isNaN(format)) throw new UnusableFolder(`${path} has an unreadable format.json`)
  if (format !== FORMAT)
    throw new UnusableFolder(
      `${path} has format ${format}, and this version of Lanekeeper reads format ${FORMAT}: use the version of Lanekeeper that wrote it, or another folder`,
    )
  return true
}

/** Creates the folders of the storage. `format.json` is written last, when everything else survives a crash. */
export async function createFolder(disk: Disk, path: string): Promise<void> {
  for (const folder of [path, `${path}/journal`, `${path}/records`]) await disk.makeFolder(folder)
  await disk.syncFolder(path)
  // This start, or an earlier one that crashed, may have created any of the parents.
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder))
    await disk.syncFolder(dirname(folder)).catch(unlessInaccessible)
  await writeManifest(disk, path, EMPTY_MANIFEST)
  await replaceFile(disk, path, 'format.json', [Buffer.from(`${JSON.stringify({ lanekeeper: FORMAT })}\n`)])
}

const INACCESSIBLE = new Set<string | undefined>(['EACCES', 'EPERM', 'EINVAL', 'EROFS'])

/** Ignores parents that this process cannot access: it did not create them. */
function unlessInaccessible(error: NodeJS.ErrnoException): void {
  if (!INACCESSIBLE.has(error.code)) throw error
}
