import { crc32 } from 'node:zlib'
import type { Stored, Value } from '../port.ts'
import { freeze, Partition } from '../partition.ts'
import { replaceFile, type Disk } from './disk.ts'
import { StorageDamaged } from './journal.ts'

/**
 * A checkpoint: one partition in one file, as of a frame of the journal. It consists of lines of JSON: a header,
 * the records and indexes, the frame that the journal had reached at its end, and a checksum of all lines before it. It
 * may be fuzzy, because commits go on while it is written. When it is loaded, all changes after its frame are applied
 * again. Applying a change twice has the same result as applying it once.
 */
export type MapPartition = Partition & { readonly records: Map<string, Stored> }

/** Lines that are written at once. */
const LINES_PER_CHUNK = 500
/** The size of the last line, in bytes. */
const CHECKSUM_LINE_SIZE = 19

interface Header {
  readonly format: 1
  readonly partition: string
  /** the sequence of the last frame whose changes it contains */
  readonly sequence: number
}
interface IndexLine {
  readonly i: string
  readonly e: readonly string[]
  /** its revision */
  readonly r: string
}
type Line =
  | { readonly k: string; readonly r: string; readonly v: Stored['value'] }
  | IndexLine
  | { readonly end: number }
  | { readonly crc: string }

/**
 * Writes the checkpoint of a partition, replacing the previous one. Commits can go on between its chunks. Before the
 * previous one is replaced, the new one is read back.
 * @param sequence the last frame whose changes it contains in any case
 * @param reached the last frame whose changes it may contain, now
 * @returns its size in bytes
 * @throws {StorageDamaged} when what was written cannot be read back
 */
export async function writeCheckpoint(
  disk: Disk,
  folder: string,
  name: string,
  state: MapPartition,
  sequence: number,
  reached: () => number = () => sequence,
): Promise<number> {
  let size = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunksOf(state, { format: 1, partition: name, sequence }, reached)) {
      size += chunk.byteLength
      yield chunk
    }
  }
  await replaceFile(disk, folder, name, counted(), async (path) => {
    if (!(await isIntact(disk, path))) throw new StorageDamaged(`${path} was written and cannot be read back: its checksum does not match`)
  })
  return size
}

/** A checkpoint that was read. */
export interface Checkpoint {
  readonly state: MapPartition
  readonly sequence: number
  /** the last frame whose changes it may contain */
  readonly end: number
  /** the size of the file, in bytes */
  readonly size: number
}

/**
 * Reads the checkpoint of a partition.
 * @returns undefined when there is none
 * @throws {StorageDamaged} when it is damaged, or has another format
 */
export async function readCheckpoint(disk: Disk, folder: string, name: string): Promise<Checkpoint | undefined> {
  const path = `${folder}/${name}`
  try {
    if (!(await isIntact(disk, path))) throw new StorageDamaged(`${path} is damaged: its checksum does not match`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
  const records = new Map<string, Stored>()
  const texts = new InternedTexts()
  const state = new Partition(records) as MapPartition
  let header: Header | undefined
  let end: number | undefined
  let size = 0
  for await (const lines of linesOf(disk.readParts(path))) {
    for (const text of lines) {
      size += Buffer.byteLength(text) + 1
      const line = JSON.parse(text) as Header | Line
      if (header === undefined) header = requireHeader(path, name, line as Header)
      else if ('k' in line) records.set(line.k, { revision: texts.intern(line.r), value: freeze(texts.internIn(line.v)) })
      else if ('i' in line) state.apply(indexChange(line))
      else if ('end' in line) end = line.end
    }
  }
  const { sequence } = header ?? requireHeader(path, name)
  if (end === undefined) throw new StorageDamaged(`${path} does not say at which frame it ends`)
  return { state, sequence, end, size }
}

function requireHeader(path: string, name: string, header: Partial<Header> = {}): Header {
  const { format, partition } = header
  if (format !== 1) throw new StorageDamaged(`${path} has format ${String(format)}, and this version of Lanekeeper reads format 1`)
  if (partition !== name) throw new StorageDamaged(`${path} is the checkpoint of another partition: ${partition}`)
  return header as Header
}

const indexChange = ({ i, e, r }: IndexLine) => ({
  revision: r,
  put: new Map(),
  remove: new Set<string>(),
  indexes: new Map([[i, { add: e, remove: [] }]]),
})

/** Whether the last line of a checkpoint is the checksum of all lines before it. Reads it in parts: it may be of any size. */
async function isIntact(disk: Disk, path: string): Promise<boolean> {
  let checksum = 0
  let lastLine = Buffer.alloc(0)
  for await (const part of disk.readParts(path)) {
    const bytes = Buffer.concat([lastLine, part])
    const start = Math.max(0, bytes.byteLength - CHECKSUM_LINE_SIZE)
    checksum = crc32(bytes.subarray(0, start), checksum)
    lastLine = bytes.subarray(start)
  }
  return lastLine.toString('latin1') === checksumLine(checksum)
}

/** Finds the checkpoints that are missing, or whose checksum does not match. */
export async function* damagedCheckpoints(
  disk: Disk,
  folder: string,
  names: readonly string[],
): AsyncGenerator<{ partition: string; file: string }[]> {
  for (const name of names) {
    const path = `${folder}/${name}`
    const isMissing = async () => !(await disk.list(folder)).includes(name)
    try {
      if (!(await isIntact(disk, path))) yield [{ partition: name, file: `${path} is damaged: its checksum does not match` }]
    } catch (error) {
      yield [{ partition: name, file: (await isMissing()) ? `${path} is missing` : `${path} cannot be read: ${(error as Error).message}` }]
    }
  }
}

const checksumLine = (checksum: number) => `{"crc":"${checksum.toString(16).padStart(8, '0')}"}\n`

/** The lines of each part of a file. A line that continues in the next part belongs to the next part. */
async function* linesOf(parts: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  let begun: Buffer[] = []
  for await (const part of parts) {
    const lines: string[] = []
    let start = 0
    for (let end = part.indexOf(10); end !== -1; end = part.indexOf(10, start)) {
      lines.push(Buffer.concat([...begun, part.subarray(start, end)]).toString())
      begun = []
      start = end + 1
    }
    begun.push(part.subarray(start))
    yield lines
  }
}

async function* chunksOf({ records, indexes }: MapPartition, header: Header, reached: () => number): AsyncGenerator<Uint8Array> {
  let checksum = 0
  let lines: string[] = [JSON.stringify(header)]
  const flush = (): Buffer => {
    const chunk = Buffer.from(`${lines.join('\n')}\n`)
    checksum = crc32(chunk, checksum)
    lines = []
    return chunk
  }
  for (const [key, { revision, value }] of records) {
    lines.push(JSON.stringify({ k: key, r: revision, v: value } satisfies Line))
    if (lines.length >= LINES_PER_CHUNK) yield flush()
  }
  for (const [name, index] of indexes) {
    lines.push(JSON.stringify({ i: name, r: index.revision!, e: index.all() } satisfies Line))
    if (lines.length >= LINES_PER_CHUNK) yield flush()
  }
  lines.push(JSON.stringify({ end: reached() } satisfies Line))
  yield flush()
  yield Buffer.from(checksumLine(checksum))
}

/** The length of ids and times. */
const LENGTH = 24
/** How many texts are remembered at a time: about 100 bytes each. */
const REMEMBERED = 20_000

/**
 * Makes records share equal texts while they are read: the ids of their board and its creator, and their times. JSON.parse makes a new text
 * for each occurrence, which takes a quarter of the memory of a card.
 */
export class InternedTexts {
  readonly #texts = new Map<string, string>()

  /** @returns an equal text that others share */
  intern(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    if (this.#texts.size >= REMEMBERED) this.#texts.clear()
    this.#texts.set(text, text)
    return text
  }

  /** Replaces ids and times of a record, which is not frozen yet, by texts that others share. */
  internIn(value: Value): Value {
    const members = value as Record<string, unknown>
    for (const name in members) {
      const text = members[name]
      // No other record has the same id.
      if (typeof text === 'string' && text.length === LENGTH && name !== 'id') members[name] = this.intern(text)
    }
    return value
  }
}
