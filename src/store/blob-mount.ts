import type { Driver } from 'unstorage'
import { randomText, systemRandom } from '../model/ids.ts'
import { throwBlobsUnavailable } from './blobs.ts'
import { GLOBAL, keys } from './keys.ts'
import type { Store } from './port.ts'
import { transact } from './transact.ts'

/** The key under which a blob mount stores its id. */
const ID_KEY = 'mount:id'
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
  const expected = await transact(store, GLOBAL, systemRandom, (tx) => tx.get(keys.blobMount()))
  const present = await readId(mount)
  if (expected?.id === present && present !== undefined) return
  if (expected !== undefined)
    throw new BlobMountMismatch(
      'the bytes of files of this storage are at another address; set --bytes to it, or omit --bytes if they are with the records',
    )
  if (isReadOnly) return
  const id = present ?? randomText(systemRandom, ID_LENGTH)
  if (present === undefined) await Promise.resolve(mount.setItem!(ID_KEY, id, {})).catch(throwBlobsUnavailable)
  // Two processes may do this at the same time. Both use the id that was written last.
  const written = (await readId(mount)) ?? id
  await transact(store, GLOBAL, systemRandom, async (tx) => {
    if ((await tx.get(keys.blobMount())) === undefined) tx.put(keys.blobMount(), { id: written })
  })
}

async function readId(mount: Driver): Promise<string | undefined> {
  try {
    const value: unknown = await mount.getItem(ID_KEY)
    return value === null || value === undefined ? undefined : String(value)
  } catch (error) {
    return throwBlobsUnavailable(error)
  }
}
