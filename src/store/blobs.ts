import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createStorage, type Driver } from 'unstorage'
import { isId, randomText, systemRandom } from '../model/ids.ts'
import { StorageUnavailable, type Store } from './port.ts'
import { GLOBAL, keys } from './keys.ts'
import { transact } from './transact.ts'

/** The bytes of files, stored separately from the records. A blob is immutable. */
export interface Blobs {
  /**
   * Writes a stream of bytes under a new id, with the durability of the mount.
   * When it throws, a part may have been written; the caller removes it with `remove`.
   * @returns the size in bytes and the SHA-256 in hex
   * @throws {StorageUnavailable} when the mount fails
   */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<{ readonly size: number; readonly sha256: string }>
  /**
   * Reads the bytes from `start` (inclusive) to `end` (exclusive).
   * @throws {StorageUnavailable} when the mount fails
   * @throws when bytes are missing
   */
  read(id: string, start: number, end: number): AsyncGenerator<Uint8Array>
  /**
   * Keeps a small picture in place of a large one. It is derived from the blob: `remove` removes it too, and exports do not have it.
   * @throws {StorageUnavailable} when the mount fails
   */
  writePreview(id: string, bytes: Uint8Array): Promise<void>
  /**
   * The preview of a blob; undefined: it has none.
   * @throws {StorageUnavailable} when the mount fails
   */
  readPreview(id: string): Promise<Uint8Array | undefined>
  /**
   * Whether a blob, or a part of one, exists.
   * @throws {StorageUnavailable} when the mount fails
   */
  exists(id: string): Promise<boolean>
  /**
   * The ids of all blobs, also of partly written ones, in any order. Slow: for maintenance.
   * @throws {StorageUnavailable} when the mount
   * fails
   */
  list(): Promise<ReadonlySet<string>>
  /** @throws {StorageUnavailable} when the mount does not answer */
  ready(): Promise<void>
  /** The space that is left where they are stored, in bytes; undefined if the mount cannot tell. */
  freeBytes(): Promise<number | undefined>
  /** Removes a blob, or the part of one that was written. */
  remove(id: string): Promise<void>
  close(): Promise<void>
}

/** A driver of unstorage, which may know the space that is left. */
export interface BlobDriver extends Driver {
  readonly freeBytes?: () => Promise<number>
}

/** Blobs are stored in chunks of this size in bytes, so no driver has to hold a whole file in memory. */
const CHUNK_SIZE = 256 * 1024

/** Stores blobs on any unstorage driver. */
export function createBlobs(driver: BlobDriver): Blobs {
  const storage = createStorage({ driver })
  const keyOf = (id: string, index: number) => `${id}:${index}`
  const previewOf = (id: string) => `${id}:preview`

  return {
    async write(id, bytes) {
      const hash = createHash('sha256')
      let size = 0
      let index = 0
      for await (const chunk of inChunks(bytes)) {
        hash.update(chunk)
        size += chunk.byteLength
        await storage.setItemRaw(keyOf(id, index++), chunk).catch(throwBlobsUnavailable)
      }
      return { size, sha256: hash.digest('hex') }
    },
    async *read(id, start, end) {
      for (let index = Math.floor(start / CHUNK_SIZE); index * CHUNK_SIZE < end; index++) {
        const chunk = await storage.getItemRaw<Uint8Array>(keyOf(id, index)).catch(throwBlobsUnavailable)
        if (chunk === null) throw new Error(`chunk ${index} of blob ${id} is missing`)
        const offset = index * CHUNK_SIZE
        if (chunk.byteLength < Math.min(CHUNK_SIZE, end - offset)) throw new Error(`chunk ${index} of blob ${id} is incomplete`)
        yield chunk.subarray(Math.max(0, start - offset), Math.min(chunk.byteLength, end - offset))
      }
    },
    async writePreview(id, bytes) {
      await storage.setItemRaw(previewOf(id), bytes).catch(throwBlobsUnavailable)
    },
    readPreview: async (id) => (await storage.getItemRaw<Uint8Array>(previewOf(id)).catch(throwBlobsUnavailable)) ?? undefined,
    exists: (id) => storage.hasItem(keyOf(id, 0)).catch(throwBlobsUnavailable),
    async list() {
      const names = await storage.getKeys().catch(throwBlobsUnavailable)
      return new Set(names.map((key) => key.slice(0, key.indexOf(':'))).filter((id) => isId('blob', id)))
    },
    async ready() {
      await storage.hasItem(keyOf('ready', 0)).catch(throwBlobsUnavailable)
    },
    // What cannot be told now is found out when the bytes are written.
    freeBytes: async () => driver.freeBytes?.().catch(() => undefined),
    async remove(id) {
      // First: while this is interrupted, the chunks name the blob.
      if (await storage.hasItem(previewOf(id))) await storage.removeItem(previewOf(id))
      let chunks = 0
      while (await storage.hasItem(keyOf(id, chunks))) chunks++
      // Backwards: when this is interrupted, the remaining chunks still start at index 0 and can be found.
      for (let index = chunks - 1; index >= 0; index--) await storage.removeItem(keyOf(id, index))
    },
    async close() {
      await storage.dispose()
    },
  }
}

/**
 * Rethrows an error of a blob mount.
 * @throws {StorageUnavailable}
 */
function throwBlobsUnavailable(cause: unknown): never {
  throw new StorageUnavailable('bytes could not be read or written', { cause })
}

/** Splits a stream into chunks of CHUNK_SIZE. The last one may be smaller. */
async function* inChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let buffered: Uint8Array[] = []
  let size = 0
  for await (const part of bytes) {
    buffered.push(part)
    size += part.byteLength
    if (size < CHUNK_SIZE) continue
    const joined = Buffer.concat(buffered)
    let offset = 0
    for (; size - offset >= CHUNK_SIZE; offset += CHUNK_SIZE) yield joined.subarray(offset, offset + CHUNK_SIZE)
    buffered = [joined.subarray(offset)]
    size -= offset
  }
  if (size > 0) yield Buffer.concat(buffered)
}

/** The key that a blob mount stores its id under. */
const ID_KEY = 'mount:id'
/** How often the ids are compared, and the time in milliseconds between two comparisons, before they are found to differ. */
const MAX_ATTEMPTS = 10
const ATTEMPT_INTERVAL = 50
/** Length of a mount id, in characters. */
const ID_LENGTH = 20

/** The blob mount at an address belongs to another storage. */
export class BlobMountMismatch extends Error {
  override readonly name = 'BlobMountMismatch'
}

/**
 * Checks that a blob mount belongs to a store. Both store the id of the mount; the first start writes it. Without
 * this check, a command that lacks the `--bytes` option would not find the bytes of files and would write new ones
 * to the wrong place.
 * @param isReadOnly whether the store cannot be written to; then nothing is written to the mount either
 * @throws {BlobMountMismatch}
 * @throws {StorageUnavailable}
 */
export async function checkBlobMount(store: Store, mount: Driver, isReadOnly = false): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const expected = await transact(store, GLOBAL, systemRandom, (tx) => tx.get(keys.blobMount()))
    const present = await readId(mount)
    if (expected === undefined) return isReadOnly ? undefined : writeIds(store, mount, present)
    if (expected.id === present) return
    if (attempt === MAX_ATTEMPTS)
      throw new BlobMountMismatch(
        'the bytes of files of this storage are at another address; set --bytes to it, or omit --bytes if they are with the records',
      )
    // Another process may be writing the ids at this moment.
    await delay(ATTEMPT_INTERVAL)
  }
}

/** Writes the id of the mount to both. Several processes may do this at the same time: the first record decides. */
async function writeIds(store: Store, mount: Driver, present: string | undefined): Promise<void> {
  const id = present ?? randomText(systemRandom, ID_LENGTH)
  const decided = await transact(store, GLOBAL, systemRandom, async (tx) => {
    const other = await tx.get(keys.blobMount())
    if (other !== undefined) return other.id
    // Before the record: if this process ends between the two, the next start adopts the id of the mount.
    if (present === undefined) await writeId(mount, id)
    tx.put(keys.blobMount(), { id })
    return id
  })
  if ((await readId(mount)) !== decided) await writeId(mount, decided)
}

async function writeId(mount: Driver, id: string): Promise<void> {
  await Promise.resolve(mount.setItem!(ID_KEY, id, {})).catch(throwBlobsUnavailable)
}

async function readId(mount: Driver): Promise<string | undefined> {
  try {
    const value: unknown = await mount.getItem(ID_KEY)
    return value === null || value === undefined ? undefined : String(value)
  } catch (error) {
    return throwBlobsUnavailable(error)
  }
}
