import { resolve } from 'node:path'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { builtinDrivers, type Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { createBlobs, type Blobs } from './blobs.ts'
import { durableDriver } from './fs/blob-driver.ts'
import { lockFolder } from './fs/lock.ts'
import { checkFolder, openFsStore } from './fs/open.ts'
import { createMemoryStore } from './memory.ts'
import { checkBlobMount } from './blob-mount.ts'
import type { Store } from './port.ts'
import { openRedisBytes } from './redis/blob-driver.ts'
import { openRedisStore } from './redis/store.ts'

/** Where things are kept, opened. */
export interface StorageHandle {
  readonly kind: 'memory' | 'fs' | 'redis'
  readonly store: Store
  readonly blobs: Blobs
  /** Lets go of everything, in the order in which it can be. */
  close(): Promise<void>
}

export interface StorageOptions {
  readonly log: Logger
  /** where bytes of files are, if not beside the records: `fs:PATH`, `redis://…`, or `DRIVER:{JSON options}` of any driver of unstorage */
  readonly bytes?: string | undefined
  /** answers a second process that asks the holder of a folder */
  readonly serve?: (socket: Socket) => void
}

/** An address cannot be read. */
export class BadAddress extends Error {
  override readonly name = 'BadAddress'
}

/** The kinds of address, as they are explained to whoever writes a wrong one. */
export const ADDRESSES =
  'memory, fs:PATH, redis://HOST[:PORT][/DB], rediss://…, redis-cluster://HOST:PORT,HOST:PORT or redis-sentinel://HOST:PORT,HOST:PORT/NAME'

/** Which kind of storage an address leads to. @throws {BadAddress} */
export function kindOf(address: string): StorageHandle['kind'] {
  if (address === 'memory') return 'memory'
  if (address.startsWith('fs:~')) throw new BadAddress('"~" is the shell\'s, which does not see it behind "fs:"; write the path out')
  if (address.startsWith('fs:') && address.length > 3) return 'fs'
  if (/^(redis|rediss|redis-cluster|redis-sentinel):\/\//.test(address)) return 'redis'
  throw new BadAddress(`it is none of ${ADDRESSES}`)
}

/** The folder of an `fs:` address. */
export function folderOf(address: string): string {
  return resolve(address.slice('fs:'.length))
}

/**
 * Opens storage by its address.
 * @throws {BadAddress} {@link OtherBytes} {@link UnusableFolder} {@link FolderInUse} {@link Damaged} {@link Unavailable}
 */
export async function openStorage(address: string, { log, bytes, serve = () => undefined }: StorageOptions): Promise<StorageHandle> {
  const kind = kindOf(address)
  const opened: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (const step of opened.toReversed()) await step()
  }
  try {
    if (kind === 'fs') {
      // Before anything is put there: a folder of another program is to stay as it is.
      await checkFolder(folderOf(address))
      const lock = await lockFolder(folderOf(address), serve)
      opened.push(() => lock.release())
    }
    const store = await openStore(kind, address, log)
    opened.push(() => store.close())
    const driver = await openBytes(bytes ?? besideRecords(kind, address), log)
    const blobs = createBlobs(driver)
    opened.push(() => blobs.close())
    if (kind !== 'memory' && bytes === 'memory')
      throw new BadAddress('bytes: in memory they would be gone at the end, and the records that need them would not')
    if (kind !== 'memory') await checkBlobMount(store, driver)
    return { kind, store, blobs, close }
  } catch (error) {
    await close()
    throw error
  }
}

function openStore(kind: StorageHandle['kind'], address: string, log: Logger): Promise<Store> {
  if (kind === 'memory') return Promise.resolve(createMemoryStore())
  return kind === 'fs' ? openFsStore(folderOf(address), { log }) : openRedisStore(address, { log })
}

function besideRecords(kind: StorageHandle['kind'], address: string): string {
  return kind === 'fs' ? `fs:${folderOf(address)}/bytes` : address
}

async function openBytes(address: string, log: Logger): Promise<Driver> {
  const named = /^([a-z0-9-]+):(\{.*\})$/s.exec(address)
  if (named === null) return openOwn(address, log)
  const name = named[1]!
  if (!Object.hasOwn(builtinDrivers, name)) throw new BadAddress(`bytes: unstorage has no driver "${name}"`)
  try {
    const { default: create } = (await import(builtinDrivers[name as keyof typeof builtinDrivers])) as {
      default: (options: unknown) => Driver
    }
    return create(JSON.parse(named[2]!))
  } catch (error) {
    // Not the options themselves: they may hold a password.
    const why = error instanceof SyntaxError ? 'its options are no JSON' : (error as Error).message.split('\n')[0]
    throw new BadAddress(`bytes: the driver "${name}" cannot be made: ${why}`)
  }
}

async function openOwn(address: string, log: Logger): Promise<Driver> {
  const kind = kindOfBytes(address)
  if (kind === 'memory') return memoryDriver()
  if (kind === 'fs') return durableDriver(folderOf(address))
  return openRedisBytes(address, log)
}

function kindOfBytes(address: string): StorageHandle['kind'] {
  try {
    return kindOf(address)
  } catch (error) {
    throw new BadAddress(`bytes: ${(error as Error).message}, nor DRIVER:{JSON options} of a driver of unstorage`)
  }
}
