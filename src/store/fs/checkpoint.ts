import { crc32 } from 'node:zlib'
import type { Stored } from '../port.ts'
import { freeze, Partition } from '../partition.ts'
import { replaceFile, type Disk } from './disk.ts'
import { StorageDamaged } from './journal.ts'

/**
 * A checkpoint: one partition in one file, as of a frame of the journal. It consists of lines of JSON: a header,
 * the records and indexes, and a checksum of all lines before it. It may be fuzzy, because commits go on while it is
 * written. When it is loaded, all changes after its frame are applied again. Applying a change twice has the same
 * result as applying it once.
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
type Line = { readonly k: string; readonly r: string; readonly v: Stored['value'] } | { readonly i: string; readonly e: readonly string[] }

/**
 * Writes the checkpoint of a partition, replacing the previous one. Commits can go on between its chunks.
 * @returns its size in bytes
 */
export async function writeCheckpoint(disk: Disk, folder: string, name: string, state: MapPartition, sequence: number): Promise<number> {
  let size = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunksOf(state, { format: 1, partition: name, sequence })) {
      size += chunk.byteLength
      yield chunk
    }
  }
  await replaceFile(disk, folder, name, counted())
  return size
}

/**
 * Reads the checkpoint of a partition.
 * @returns undefined when there is none
 * @throws {StorageDamaged} when it is damaged, or has another format
 */
export async function readCheckpoint(
  disk: Disk,
  folder: string,
  name: string,
): Promise<{ state: MapPartition; sequence: number } | undefined> {
  const bytes = await disk.read(`${folder}/${name}`)
  if (bytes === undefined) return undefined
  const lastLine = bytes.byteLength - CHECKSUM_LINE_SIZE
  const [, checksum] = /\{"crc":"([0-9a-f]{8})"\}\n/.exec(bytes.toString('latin1', lastLine)) ?? []
  // A missing checksum is read as NaN, which equals nothing.
  if (crc32(bytes.subarray(0, lastLine)) !== Number.parseInt(checksum!, 16))
    throw new StorageDamaged(`${folder}/${name} is damaged: its checksum does not match`)
  // Line by line: the whole file may exceed the maximum length of a string.
  const lines = linesIn(bytes.subarray(0, lastLine))
  const { format, partition, sequence } = JSON.parse(lines.next().value ?? '{}') as Header
  if (format !== 1) throw new StorageDamaged(`${folder}/${name} has format ${String(format)}; this version of Lanekeeper supports format 1`)
  if (partition !== name) throw new StorageDamaged(`${folder}/${name} is the checkpoint of another partition: ${partition}`)
  return { state: loadPartition(lines, sequence), sequence }
}

function loadPartition(lines: Iterable<string>, sequence: number): MapPartition {
  const records = new Map<string, Stored>()
  const state = new Partition(records) as MapPartition
  for (const text of lines) {
    const line = JSON.parse(text) as Line
    if ('k' in line) records.set(line.k, { revision: line.r, value: line.v })
    else
      state.apply({
        revision: `checkpoint ${sequence}`,
        put: new Map(),
        remove: new Set(),
        indexes: new Map([[line.i, { add: line.e, remove: [] }]]),
      })
  }
  for (const { value } of records.values()) freeze(value)
  return state
}

function* linesIn(bytes: Buffer): Generator<string> {
  for (let start = 0; start < bytes.byteLength;) {
    const end = bytes.indexOf(10, start)
    yield bytes.toString('utf8', start, end)
    start = end + 1
  }
}

async function* chunksOf({ records, indexes }: MapPartition, header: Header): AsyncGenerator<Uint8Array> {
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
    lines.push(JSON.stringify({ i: name, e: index.all() } satisfies Line))
    if (lines.length >= LINES_PER_CHUNK) yield flush()
  }
  if (lines.length > 0) yield flush()
  yield Buffer.from(`{"crc":"${checksum.toString(16).padStart(8, '0')}"}\n`)
}
