import { createHash } from 'node:crypto'
import type { FileRecord } from '../model/file.ts'
import type { Blobs } from '../store/blobs.ts'
import { StorageUnavailable } from '../store/port.ts'

/**
 * Checks the bytes of a file.
 * @param quick only whether they are there with their size; otherwise all of them are read and hashed
 * @returns what is wrong with them, or undefined
 * @throws {StorageUnavailable} when they cannot be read at present
 */
export async function damageOfBytes(blobs: Blobs, { blob_id, size, sha256 }: FileRecord, quick: boolean): Promise<string | undefined> {
  if (size === 0) return undefined
  if (!(await blobs.exists(blob_id))) return 'are missing'
  const hash = createHash('sha256')
  try {
    for await (const part of blobs.read(blob_id, quick ? size - 1 : 0, size)) hash.update(part)
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    return 'are incomplete'
  }
  return quick || hash.digest('hex') === sha256 ? undefined : 'do not have the SHA-256 that the file states'
}
