import { setTimeout as delay } from 'node:timers/promises'
import type { Driver } from 'unstorage'
import { randomText, systemRandom } from '../model/ids.ts'
import { throwBlobsUnavailable } from './blobs.ts'
import { GLOBAL, keys } from './keys.ts'
import type { Store } from './port.ts'
import { transact } from './transact.ts'

/** The key under which a blob mount stores its id. */
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
