import { crc32 } from 'node:zlib'
import { replaceFile, truncateFile, type Disk } from './disk.ts'
import { ADVICE, StorageDamaged, type Journal } from './journal.ts'

/**
 * The manifest: what the folder must contain, as far as that is known without a sync for each commit. It tells what a
 * crash left from a folder in which files are missing, cut, damaged or of different times.
 *
 * `manifest.json` consists of lines of JSON: the manifest, its checksum and, after a clean shutdown, a mark. The mark is
 * cut off when the folder is opened again, before anything is written. That needs no space on a full disk.
 */
export interface Manifest {
  /** All frames before this one are in checkpoints, so the journal may begin with it. */
  readonly start: number
  /** The journal has reached at least this frame. After a clean shutdown this is its last frame. */
  readonly sequence: number
  /** partition → the sequence of its checkpoint, or of an earlier one */
  readonly checkpoints: ReadonlyMap<string, number>
  /** partition → the first entry of its index of tombstones, or an earlier text (see FirstTombstones) */
  readonly tombstones: ReadonlyMap<string, string>
}

interface Encoded extends Pick<Manifest, 'start' | 'sequence'> {
  readonly checkpoints: [partition: string, sequence: number][]
  readonly tombstones: [partition: string, entry: string][]
}

/** The manifest of a folder without data. */
export const EMPTY_MANIFEST: Manifest = { start: 1, sequence: 0, checkpoints: new Map(), tombstones: new Map() }

const NAME = 'manifest.json'
const MARK = '{"closed":true}\n'
const LAYOUT = /^(\{.*\}\n)\{"crc":"([0-9a-f]{8})"\}\n(\{"closed":true\}\n)?$/

/**
 * Replaces the manifest.
 * @param closed whether nothing is written after it: the mark of a clean shutdown
 * @throws {SyncFailed}
 */
export async function writeManifest(
  disk: Disk,
  folder: string,
  { start, sequence, checkpoints, tombstones }: Manifest,
  { closed = false }: { closed?: boolean } = {},
): Promise<void> {
  const text = `${JSON.stringify({ start, sequence, checkpoints: [...checkpoints], tombstones: [...tombstones] })}\n`
  const checksum = crc32(text).toString(16).padStart(8, '0')
  await replaceFile(disk, folder, NAME, [Buffer.from(`${text}{"crc":"${checksum}"}\n${closed ? MARK : ''}`)])
}

/**
 * Reads the manifest, and checks that the journal matches it. Changes nothing.
 * @returns the manifest, and whether it has the mark of a clean shutdown
 * @throws {StorageDamaged}
 */
export async function readManifest(disk: Disk, folder: string, journal: Journal): Promise<{ manifest: Manifest; closed: boolean }> {
  const bytes = await disk.read(`${folder}/${NAME}`)
  if (bytes === undefined) throw new StorageDamaged(`${folder}/${NAME} is missing; ${ADVICE}`)
  const [, text, checksum, mark] = LAYOUT.exec(bytes.toString()) ?? []
  if (text === undefined || crc32(text) !== Number.parseInt(checksum!, 16))
    throw new StorageDamaged(`${folder}/${NAME} is damaged; ${ADVICE}`)
  const { start, sequence, checkpoints, tombstones } = JSON.parse(text) as Encoded
  const manifest: Manifest = { start, sequence, checkpoints: new Map(checkpoints), tombstones: new Map(tombstones) }
  const reason = mismatch(manifest, mark !== undefined, journal)
  if (reason !== undefined) throw new StorageDamaged(`${folder}/journal ${reason}; ${ADVICE}`)
  return { manifest, closed: mark !== undefined }
}

/** Why a journal cannot be the one that belongs to the manifest; undefined when it can. */
function mismatch({ start, sequence }: Manifest, closed: boolean, journal: Journal): string | undefined {
  if (journal.first !== undefined && journal.first > start) return `begins at frame ${journal.first}: frame ${start} is missing`
  if (journal.sequence < sequence)
    return `ends at frame ${journal.sequence}, but had reached frame ${sequence}: its end is cut off or damaged`
  if (!closed) return undefined
  if (journal.sequence > sequence) return `continues after frame ${sequence}, with which it was closed`
  return journal.last?.rest.byteLength
    ? `has ${journal.last.rest.byteLength} bytes after frame ${sequence}, with which it was closed`
    : undefined
}

/**
 * Prepares a manifest that was read for use, before anything else is written to the folder: removes the mark of a clean shutdown,
 * durably. Without a mark, the file is written again. The process that removed the mark may have been killed before its sync, or its
 * sync may have failed. The mark would then come back after a power loss.
 * @throws {SyncFailed}
 */
export async function beginUse(
  disk: Disk,
  folder: string,
  { manifest, closed }: { readonly manifest: Manifest; readonly closed: boolean },
): Promise<void> {
  const { byteLength } = (await disk.read(`${folder}/${NAME}`))!
  const truncate = (size: number) => truncateFile(disk, `${folder}/${NAME}`, size)
  if (closed) return truncate(byteLength - MARK.length)
  await writeManifest(disk, folder, manifest).catch((error: NodeJS.ErrnoException) => {
    // A full disk must still be readable.
    if (error.code !== 'ENOSPC') throw error
    return truncate(byteLength)
  })
}
