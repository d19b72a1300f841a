import type { Driver } from 'unstorage'
import { randomText, systemRandom } from '../model/ids.ts'
import { GLOBAL, keys } from './keys.ts'
import { StorageUnavailable, type Store } from './port.ts'
import { transact } from './transact.ts'

const KEY = 'mount:id'

/** The bytes that an address leads to belong to other records. */
export class BlobMountMismatch extends Error {
  override readonly name = 'OtherBytes'
}

/**
 * Sees to it that bytes and records belong together: each says so of the other, from the first time on. A start,
 * or a command, that forgot `--bytes` would find files without bytes, and write new ones elsewhere.
 * @throws {BlobMountMismatch}
 */
export async function checkBlobMount(store: Store, bytes: Driver): Promise<void> {
  const known = await transact(store, GLOBAL, systemRandom, (tx) => tx.get(keys.bytesMount()))
  const found = text(await read(bytes))
  if (known?.id === found && found !== undefined) return
  if (known !== undefined)
    throw new BlobMountMismatch('the bytes of files are not where --bytes (or, without it, the storage itself) leads; say where they are')
  const id = found ?? randomText(systemRandom, 20)
  if (found === undefined) await Promise.resolve(bytes.setItem!(KEY, id, {})).catch(unavailable)
  // Of two that begin at once both take what is there by now.
  const kept = text(await read(bytes)) ?? id
  await transact(store, GLOBAL, systemRandom, async (tx) => {
    if ((await tx.get(keys.bytesMount())) === undefined) tx.put(keys.bytesMount(), { id: kept })
  })
}

async function read(bytes: Driver): Promise<unknown> {
  try {
    return await bytes.getItem(KEY)
  } catch (error) {
    return unavailable(error)
  }
}

function text(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}

function unavailable(cause: unknown): never {
  throw new StorageUnavailable('bytes could not be read or written', { cause })
}
