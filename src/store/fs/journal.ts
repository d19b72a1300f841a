import { crc32 } from 'node:zlib'
import type { Change } from '../port.ts'
import { replaceFile, assertSynced, type Disk, type OpenFile } from './disk.ts'

/**
 * The journal: the commit point of the fs driver. It is a row of files, each a row of frames, each one write:
 *
 *     lk1 <sequence> <bytes> <crc32>\n <JSON of changes> \n
 *
 * A frame is whole or it is none. Only the last one can be torn, and then nobody was told that it was done.
 */
export interface Entry extends Omit<Change, 'expect'> {
  readonly partition: string
}

/** A frame that was read. */
export interface Frame {
  readonly sequence: number
  readonly entries: readonly Entry[]
}

/** The journal, or a checkpoint, is not what was written: something else than a crash has changed it. */
export class StorageDamaged extends Error {
  override readonly name = 'Damaged'
}

const NAME = /^(\d{10})\.log$/
const HEAD = /^lk1 (\d+) (\d+) ([0-9a-f]{8})\n$/
const HEAD_MAX = 64

/** A frame as it is written. */
export function encodeFrame(sequence: number, entries: readonly Entry[]): Buffer {
  const payload = Buffer.from(JSON.stringify(entries.map(pack)))
  const head = `lk1 ${sequence} ${payload.byteLength} ${crc32(payload).toString(16).padStart(8, '0')}\n`
  return Buffer.concat([Buffer.from(head), payload, Buffer.from('\n')])
}

/**
 * Reads all files of the journal in their order.
 * @returns the frames, where the next one goes, and how long it all is; a torn one at the very end is cut off
 * @throws {StorageDamaged} where a frame is broken that has whole ones behind it, or one is missing
 */
export async function readJournal(disk: Disk, folder: string): Promise<{ frames: Frame[]; last: string | undefined; size: number }> {
  const names = (await disk.list(folder)).filter((name) => NAME.test(name))
  const files = await Promise.all(names.map(async (name) => ({ name, bytes: (await disk.read(`${folder}/${name}`)) ?? Buffer.alloc(0) })))
  // An empty one behind it was made for frames that never came, or that could not be written.
  const filled = files.findLastIndex(({ bytes }) => bytes.byteLength > 0)
  const open = filled === -1 ? files.length - 1 : filled
  const frames: Frame[] = []
  for (const [i, { name, bytes }] of files.entries()) {
    const end = readFrames(bytes, frames, name)
    if (end < bytes.byteLength && (i !== open || hasFrameAfter(bytes, end)))
      throw new StorageDamaged(`${folder}/${name} is damaged at byte ${end}: there are whole frames behind it`)
    if (i === open) await rewriteTail(disk, folder, name, bytes.subarray(0, end))
    if (i > open) await disk.remove(`${folder}/${name}`)
  }
  return { frames, last: names[open], size: files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) }
}

/**
 * Makes sure of what was read before it is shown. The process that wrote it may have been killed before its sync,
 * or its sync may have failed: then the system still shows what is on no disk, and a sync of it would do nothing.
 * So it is written anew.
 */
async function rewriteTail(disk: Disk, folder: string, name: string, bytes: Uint8Array): Promise<void> {
  try {
    await replaceFile(disk, folder, name, [bytes])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    // A full disk must not keep anyone from reading. This needs no room.
    await truncateFile(disk, `${folder}/${name}`, bytes.byteLength)
  }
}

/** The name of the file that begins with a sequence number. */
export function journalName(sequence: number): string {
  return `${String(sequence).padStart(10, '0')}.log`
}

function readFrames(bytes: Buffer, frames: Frame[], name: string): number {
  let at = 0
  for (;;) {
    const frame = frameAt(bytes, at)
    if (frame === undefined) return at
    // A file is named by its first frame.
    const expected = frames.length === 0 ? Number.parseInt(name, 10) : frames.at(-1)!.sequence + 1
    if (frame.sequence !== expected) throw new StorageDamaged(`${name}: frame ${expected} is missing, ${frame.sequence} comes in its place`)
    frames.push({ sequence: frame.sequence, entries: frame.entries })
    at = frame.end
  }
}

function frameAt(bytes: Buffer, at: number): (Frame & { end: number }) | undefined {
  const newline = bytes.subarray(at, at + HEAD_MAX).indexOf(10)
  const head = newline === -1 ? null : HEAD.exec(bytes.toString('latin1', at, at + newline + 1))
  if (head === null) return undefined
  const start = at + newline + 1
  const end = start + Number(head[2])
  const payload = bytes.subarray(start, end)
  if (bytes[end] !== 10 || crc32(payload) !== Number.parseInt(head[3]!, 16)) return undefined
  return { sequence: Number(head[1]), entries: (JSON.parse(payload.toString()) as Packed[]).map(unpack), end: end + 1 }
}

function hasFrameAfter(bytes: Buffer, at: number): boolean {
  for (let next = bytes.indexOf('lk1 ', at + 1); next !== -1; next = bytes.indexOf('lk1 ', next + 1)) {
    if (frameAt(bytes, next) !== undefined) return true
  }
  return false
}

async function truncateFile(disk: Disk, path: string, size: number): Promise<void> {
  const file: OpenFile = await disk.append(path)
  try {
    await file.truncate(size)
    await assertSynced(file.sync())
  } finally {
    await file.close()
  }
}

type Packed = [
  partition: string,
  revision: string,
  put: [string, unknown][],
  remove: string[],
  indexes: [string, readonly string[], readonly string[]][],
]

function pack({ partition, revision, put, remove, indexes }: Entry): Packed {
  return [partition, revision, [...put], [...remove], [...indexes].map(([name, { add, remove: gone }]) => [name, add, gone])]
}

function unpack([partition, revision, put, remove, indexes]: Packed): Entry {
  return {
    partition,
    revision,
    put: new Map(put) as Entry['put'],
    remove: new Set(remove),
    indexes: new Map(indexes.map(([name, add, gone]) => [name, { add, remove: gone }])),
  }
}
