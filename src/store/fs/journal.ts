import { crc32 } from 'node:zlib'
import type { Change } from '../port.ts'
import { replaceFile, assertSynced, type Disk } from './disk.ts'

/**
 * The journal: a change is committed when it is in the journal and synced. The journal is a sequence of files, each
 * a sequence of frames. One write appends one frame:
 *
 *     lk1 <sequence> <bytes> <crc32>\n <JSON of changes> \n
 *
 * A crash can leave only the last frame incomplete. Its changes were not acknowledged, so the frame is discarded.
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

/** A journal file is named after its first frame. */
const FILE_NAME = /^(\d{10})\.log$/
const HEADER = /^lk1 (\d+) (\d+) ([0-9a-f]{8})$/
/** Maximum size of a header, in bytes. */
const MAX_HEADER_SIZE = 64

/** The name of the journal file that begins with a sequence number. */
export function journalName(sequence: number): string {
  return `${String(sequence).padStart(10, '0')}.log`
}

/** The bytes of a frame. */
export function encodeFrame(sequence: number, entries: readonly Entry[]): Buffer {
  const payload = Buffer.from(JSON.stringify(entries.map(encodeEntry)))
  const header = `lk1 ${sequence} ${payload.byteLength} ${crc32(payload).toString(16).padStart(8, '0')}\n`
  return Buffer.concat([Buffer.from(header), payload, Buffer.from('\n')])
}

/**
 * Reads all files of the journal in order. Cuts off an incomplete last frame, and removes empty files after it.
 * @returns the frames, the name of the file that the next frame is appended to (undefined without files), and the
 * size of all files in bytes
 * @throws {StorageDamaged} when a frame is missing, or damaged and followed by intact frames
 */
export async function readJournal(disk: Disk, folder: string): Promise<{ frames: Frame[]; last: string | undefined; size: number }> {
  const names = (await disk.list(folder)).filter((name) => FILE_NAME.test(name))
  const files = await Promise.all(names.map(async (name) => ({ name, bytes: (await disk.read(`${folder}/${name}`)) ?? Buffer.alloc(0) })))
  // Files after the last non-empty one were created for frames that were never written.
  const lastFilled = files.findLastIndex(({ bytes }) => bytes.byteLength > 0)
  const last = lastFilled === -1 ? files.length - 1 : lastFilled
  const frames: Frame[] = []
  for (const [i, { name, bytes }] of files.entries()) {
    const end = readFrames(bytes, frames, name)
    if (end < bytes.byteLength && (i !== last || hasFrameAfter(bytes, end)))
      throw new StorageDamaged(`${folder}/${name} is damaged at byte ${end}: intact frames follow`)
    if (i === last) await rewriteTail(disk, folder, name, bytes.subarray(0, end))
    if (i > last) await disk.remove(`${folder}/${name}`)
  }
  return { frames, last: names[last], size: files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) }
}

/**
 * Makes the content of the last file durable before it is used. The process that wrote it may have been killed
 * before its sync, or its sync may have failed. The operating system then returns data that is not on the disk, and
 * another sync has no effect. Writing the file again solves both.
 */
async function rewriteTail(disk: Disk, folder: string, name: string, bytes: Uint8Array): Promise<void> {
  try {
    await replaceFile(disk, folder, name, [bytes])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    // A full disk must still be readable. Truncating needs no space.
    await truncateFile(disk, `${folder}/${name}`, bytes.byteLength)
  }
}

async function truncateFile(disk: Disk, path: string, size: number): Promise<void> {
  const file = await disk.append(path)
  try {
    await file.truncate(size)
    await assertSynced(file.sync())
  } finally {
    await file.close()
  }
}

/** Appends the intact frames of a file to `frames`. @returns the offset after the last of them */
function readFrames(bytes: Buffer, frames: Frame[], name: string): number {
  let offset = 0
  for (;;) {
    const frame = frameAt(bytes, offset)
    if (frame === undefined) return offset
    const expected = frames.length === 0 ? Number.parseInt(name, 10) : frames.at(-1)!.sequence + 1
    if (frame.sequence !== expected) throw new StorageDamaged(`${name}: frame ${expected} is missing; frame ${frame.sequence} follows`)
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
