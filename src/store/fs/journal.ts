import { crc32 } from 'node:zlib'
import type { Change } from '../port.ts'
import { replaceFile, truncateFile, type Disk } from './disk.ts'

/**
 * The journal: a change is committed when it is in the journal and synced. The journal is a sequence of files, each
 * a sequence of frames. One write appends one frame:
 *
 *     lk1 <sequence> <bytes> <crc32>\n <JSON of changes> \n
 *
 * A crash can leave only the last frame incomplete. Its changes were not acknowledged, so the frame is moved to a file
 * beside the journal. The manifest tells whether there was a crash (see manifest.ts).
 */
export interface Entry extends Omit<Change, 'expect'> {
  readonly partition: string
}

/** A frame that was read. */
export interface Frame {
  /** frames are numbered from 1, without gaps */
  readonly sequence: number
  readonly entries: readonly Entry[]
}

/** The journal or a checkpoint is damaged in a way that a crash cannot cause. */
export class StorageDamaged extends Error {
  override readonly name = 'StorageDamaged'
}

/** What to do with a damaged folder. */
export const ADVICE = 'restore the last backup, see "Damaged folders" in src/admin/README.md'

/** A journal file is named after its first frame. */
const FILE_NAME = /^(\d{10})\.log$/
const HEADER = /^lk1 (\d+) (\d+) ([0-9a-f]{8})$/
/** Maximum size of a header, in bytes. */
const MAX_HEADER_SIZE = 64

/** The name of the journal file that begins with a sequence number. */
export function journalName(sequence: number): string {
  return `${String(sequence).padStart(10, '0')}.log`
}

/** The first frame that a file of the journal can have; undefined for any other file. */
export function firstFrameOf(name: string): number | undefined {
  const digits = FILE_NAME.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** The bytes of a frame. */
export function encodeFrame(sequence: number, entries: readonly Entry[]): Buffer {
  const payload = Buffer.from(JSON.stringify(entries.map(encodeEntry)))
  const header = `lk1 ${sequence} ${payload.byteLength} ${crc32(payload).toString(16).padStart(8, '0')}\n`
  return Buffer.concat([Buffer.from(header), payload, Buffer.from('\n')])
}

/** The journal as it was found. */
export interface Journal {
  readonly frames: readonly Frame[]
  /** the first frame that its files can have; undefined without files */
  readonly first: number | undefined
  /** the sequence of the last frame */
  readonly sequence: number
  /** the last file that is not empty, or else the last file; undefined without files */
  readonly last:
    | { readonly name: string; readonly intact: Buffer; /** an incomplete or damaged frame at its end */ readonly rest: Buffer }
    | undefined
  /** the names of the empty files after it: they were created for frames that were never written */
  readonly empty: readonly string[]
  /** the size of all files, in bytes */
  readonly size: number
}

/**
 * Reads all files of the journal in order. Changes nothing.
 * @throws {StorageDamaged} when a frame is missing, or damaged and followed by intact frames
 */
export async function readJournal(disk: Disk, folder: string): Promise<Journal> {
  const names = (await disk.list(folder)).filter((name) => firstFrameOf(name) !== undefined)
  const files = await Promise.all(names.map(async (name) => ({ name, bytes: (await disk.read(`${folder}/${name}`)) ?? Buffer.alloc(0) })))
  const lastFilled = files.findLastIndex(({ bytes }) => bytes.byteLength > 0)
  const lastIndex = lastFilled === -1 ? files.length - 1 : lastFilled
  const frames: Frame[] = []
  let last: Journal['last']
  for (const [i, { name, bytes }] of files.entries()) {
    const end = readFrames(bytes, frames, name)
    if (end < bytes.byteLength && (i !== lastIndex || hasFrameAfter(bytes, end)))
      throw new StorageDamaged(`${folder}/${name} is damaged at byte ${end}: intact frames follow; ${ADVICE}`)
    if (i === lastIndex) last = { name, intact: bytes.subarray(0, end), rest: bytes.subarray(end) }
  }
  return {
    frames,
    first: names[0] === undefined ? undefined : firstFrameOf(names[0]),
    // The name of an empty file gives the sequence of its first frame.
    sequence: frames.at(-1)?.sequence ?? (last === undefined ? 0 : firstFrameOf(last.name)! - 1),
    last,
    empty: names.slice(lastIndex + 1),
    size: files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
  }
}

/**
 * Makes a journal that was read durable, and prepares its end for appending. An incomplete last frame is moved to a
 * file beside the journal.
 * @returns the path of that file, or undefined without one
 */
export async function repairJournal(disk: Disk, folder: string, { last, empty }: Journal): Promise<string | undefined> {
  if (last === undefined) return undefined
  const aside = await keepRest(disk, folder, last)
  await rewriteEnd(disk, folder, last.name, last.intact)
  for (const name of empty) await disk.remove(`${folder}/${name}`)
  return aside
}

async function keepRest(disk: Disk, folder: string, { name, intact, rest }: NonNullable<Journal['last']>): Promise<string | undefined> {
  if (rest.byteLength === 0) return undefined
  const aside = `${name}.${intact.byteLength}.torn`
  try {
    await replaceFile(disk, folder, aside, [rest])
    return `${folder}/${aside}`
  } catch (error) {
    return unlessFull(error)
  }
}

/**
 * Makes the content of the last file durable before it is used. The process that wrote it may have been killed
 * before its sync, or its sync may have failed. The operating system then returns data that is not on the disk, and
 * another sync has no effect. Writing the file again solves both.
 */
async function rewriteEnd(disk: Disk, folder: string, name: string, intact: Uint8Array): Promise<void> {
  try {
    await replaceFile(disk, folder, name, [intact])
  } catch (error) {
    // A full disk must still be readable.
    unlessFull(error)
    await truncateFile(disk, `${folder}/${name}`, intact.byteLength)
  }
}

function unlessFull(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
}

/** Appends the intact frames of a file to `frames`. @returns the offset after the last of them */
function readFrames(bytes: Buffer, frames: Frame[], name: string): number {
  let offset = 0
  for (;;) {
    const frame = frameAt(bytes, offset)
    if (frame === undefined) return offset
    const expected = frames.length === 0 ? firstFrameOf(name)! : frames.at(-1)!.sequence + 1
    if (frame.sequence !== expected)
      throw new StorageDamaged(`${name}: frame ${expected} is missing, frame ${frame.sequence} follows; ${ADVICE}`)
    frames.push({ sequence: frame.sequence, entries: frame.entries })
    offset = frame.end
  }
}

/** @returns undefined when there is no intact frame at the offset */
function frameAt(bytes: Buffer, offset: number): (Frame & { end: number }) | undefined {
  const newline = bytes.subarray(offset, offset + MAX_HEADER_SIZE).indexOf(10)
  // Without a newline this is an empty text, which is not a header.
  const header = HEADER.exec(bytes.toString('latin1', offset, offset + newline))
  if (header === null) return undefined
  const start = offset + newline + 1
  const end = start + Number(header[2])
  const payload = bytes.subarray(start, end)
  if (bytes[end] !== 10 || crc32(payload) !== Number.parseInt(header[3]!, 16)) return undefined
  return { sequence: Number(header[1]), entries: (JSON.parse(payload.toString()) as EncodedEntry[]).map(decodeEntry), end: end + 1 }
}

function hasFrameAfter(bytes: Buffer, offset: number): boolean {
  for (let next = bytes.indexOf('lk1 ', offset + 1); next !== -1; next = bytes.indexOf('lk1 ', next + 1)) {
    if (frameAt(bytes, next) !== undefined) return true
  }
  return false
}

type EncodedEntry = [
  partition: string,
  revision: string,
  put: [string, unknown][],
  remove: string[],
  indexes: [name: string, add: readonly string[], remove: readonly string[]][],
]

function encodeEntry({ partition, revision, put, remove, indexes }: Entry): EncodedEntry {
  return [partition, revision, [...put], [...remove], [...indexes].map(([name, entries]) => [name, entries.add, entries.remove])]
}

function decodeEntry([partition, revision, put, remove, indexes]: EncodedEntry): Entry {
  return {
    partition,
    revision,
    put: new Map(put) as Entry['put'],
    remove: new Set(remove),
    indexes: new Map(indexes.map(([name, added, removed]) => [name, { add: added, remove: removed }])),
  }
}
