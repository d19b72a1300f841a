import { crc32 } from 'node:zlib'
import type { Stored } from '../port.ts'
import { freeze, Partition } from '../partition.ts'
import { replaceFile, type Disk } from './disk.ts'
import { StorageDamaged } from './journal.ts'

/**
 * A checkpoint: one partition in one file, as of a frame of the journal. Lines of JSON, the first one its head,
 * the last one a checksum over all before it. It may be fuzzy (written while others commit): every change after
 * its frame is done again when it is loaded, and to do a change twice is to do it once.
 */
const PER_CHUNK = 500

/** A partition whose records are a Map, all in memory. */
export type MapPartition = Partition & { readonly records: Map<string, Stored> }

interface Head {
  readonly format: 1
  readonly partition: string
  /** the changes up to this frame are in it */
  readonly sequence: number
}
type Line = { readonly k: string; readonly r: string; readonly v: Stored['value'] } | { readonly i: string; readonly e: readonly string[] }

/**
 * Writes a partition in place of its checkpoint. Between its chunks others go on.
 * @returns how many bytes it has
 */
export async function writeCheckpoint(
  disk: Disk,
  folder: string,
  name: string,
  state: Partition & { readonly records: Map<string, Stored> },
  sequence: number,
): Promise<number> {
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
 * Reads a partition as it was written.
 * @returns undefined where there is no checkpoint
 * @throws {StorageDamaged} where it is not what was written
 */
export async function readCheckpoint(
  disk: Disk,
  folder: string,
  name: string,
): Promise<{ state: MapPartition; sequence: number } | undefined> {
  const bytes = await disk.read(`${folder}/${name}`)
  if (bytes === undefined) return undefined
  const lastLine = bytes.lastIndexOf(10, bytes.byteLength - 2) + 1
  const checksum = /^\{"crc":"([0-9a-f]{8})"\}\n$/.exec(bytes.toString('latin1', lastLine))?.[1]
  if (checksum === undefined || crc32(bytes.subarray(0, lastLine)) !== Number.parseInt(checksum, 16))
    throw new StorageDamaged(`${folder}/${name} is damaged: its checksum does not fit`)
  // Line by line: a string cannot hold as much as a workspace may.
  const lines = linesIn(bytes.subarray(0, lastLine))
  const { format, partition, sequence } = JSON.parse(lines.next().value ?? '{}') as Head
  if (format !== 1) throw new StorageDamaged(`${folder}/${name} has format ${String(format)}; this version of Lanekeeper knows format 1`)
  if (partition !== name) throw new StorageDamaged(`${folder}/${name} is the checkpoint of ${partition}`)
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
  return { state, sequence }
}

function* linesIn(bytes: Buffer): Generator<string> {
  for (let from = 0; from < bytes.byteLength;) {
    const to = bytes.indexOf(10, from)
    yield bytes.toString('utf8', from, to)
    from = to + 1
  }
}

async function* chunksOf(
  { records, indexes }: Partition & { readonly records: Map<string, Stored> },
  head: Head,
): AsyncGenerator<Uint8Array> {
  let checksum = 0
  let lines: string[] = [JSON.stringify(head)]
  const flush = (): Buffer => {
    const chunk = Buffer.from(`${lines.join('\n')}\n`)
    checksum = crc32(chunk, checksum)
    lines = []
    return chunk
  }
  for (const [key, { revision, value }] of records) {
    lines.push(JSON.stringify({ k: key, r: revision, v: value } satisfies Line))
    if (lines.length >= PER_CHUNK) yield flush()
  }
  for (const [name, index] of indexes) {
    lines.push(JSON.stringify({ i: name, e: index.all() } satisfies Line))
    if (lines.length >= PER_CHUNK) yield flush()
  }
  if (lines.length > 0) yield flush()
  yield Buffer.from(`{"crc":"${checksum.toString(16).padStart(8, '0')}"}\n`)
}
