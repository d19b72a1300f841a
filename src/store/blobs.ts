import { createHash } from 'node:crypto'
import { createStorage, type Driver } from 'unstorage'
import { StorageUnavailable } from './port.ts'

/** The bytes of files: apart from records, on a mount of their own. What is written is never changed. */
export interface Blobs {
  /**
   * Writes bytes under a new id, as they come. Once it resolves they are as safe as the mount can keep them.
   * Where it fails a part may be left behind: `remove` it.
   * @throws {StorageUnavailable} where the mount fails
   */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<{ readonly size: number; readonly sha256: string }>
  /** Reads bytes from `start` up to, and without, `end`. */
  read(id: string, start: number, end: number): AsyncGenerator<Uint8Array>
  /** Whether there is anything under an id. */
  exists(id: string): Promise<boolean>
  /** @throws {StorageUnavailable} where the mount does not answer */
  ready(): Promise<void>
  /** Removes what is there under an id, all or the part that was written. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}

/** Bytes are kept in pieces of this size: so no driver has to hold a whole file in memory. */
const PIECE = 256 * 1024

/** Keeps bytes on any driver of unstorage. */
export function createBlobs(driver: Driver): Blobs {
  const storage = createStorage({ driver })
  const keyOf = (id: string, piece: number) => `${id}:${piece}`

  return {
    async write(id, bytes) {
      const hash = createHash('sha256')
      let size = 0
      let piece = 0
      for await (const part of inPieces(bytes)) {
        hash.update(part)
        size += part.byteLength
        await storage.setItemRaw(keyOf(id, piece++), part).catch(unavailable)
      }
      return { size, sha256: hash.digest('hex') }
    },
    async *read(id, start, end) {
      for (let piece = Math.floor(start / PIECE); piece * PIECE < end; piece++) {
        const part = await storage.getItemRaw<Uint8Array>(keyOf(id, piece)).catch(unavailable)
        if (part === null) throw new Error(`bytes are missing: piece ${piece} of ${id}`)
        const from = piece * PIECE
        yield part.subarray(Math.max(0, start - from), Math.min(part.byteLength, end - from))
      }
    },
    exists: (id) => storage.hasItem(keyOf(id, 0)).catch(unavailable),
    async ready() {
      await storage.hasItem(keyOf('ready', 0)).catch(unavailable)
    },
    async remove(id) {
      let pieces = 0
      while (await storage.hasItem(keyOf(id, pieces))) pieces++
      // Backwards: should this end in the middle, what is left can still be found from its beginning.
      for (let piece = pieces - 1; piece >= 0; piece--) await storage.removeItem(keyOf(id, piece))
    },
    async close() {
      await storage.dispose()
    },
  }
}

function unavailable(cause: unknown): never {
  throw new StorageUnavailable('bytes could not be read or written', { cause })
}

async function* inPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    held.push(chunk)
    size += chunk.byteLength
    if (size < PIECE) continue
    const all = Buffer.concat(held)
    let from = 0
    for (; size - from >= PIECE; from += PIECE) yield all.subarray(from, from + PIECE)
    held = [all.subarray(from)]
    size -= from
  }
  if (size > 0) yield Buffer.concat(held)
}
