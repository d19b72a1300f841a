import { resolve } from 'node:path'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { builtinDrivers, type Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { systemRandom } from '../model/ids.ts'
import { checkBlobMount, createBlobs, type Blobs } from './blobs.ts'
import type { SharedCounters } from './counters.ts'
import { createFsBlobDriver } from './fs/blob-driver.ts'
import { checkFolder } from './fs/folder.ts'
import type { FsStore } from './fs/store.ts'
import { lockFolder, lockFolderForReading } from './fs/lock.ts'
import { createMemoryStore } from './memory.ts'
import { requireCurrent } from './migrations/run.ts'
import type { Store } from './port.ts'

/** Opened storage. */
export interface StorageHandle {
  readonly kind: 'memory' | 'fs' | 'redis'
  /** the version of SQLite that reads and writes a folder; undefined: the storage is no folder */
  readonly sqlite: string | undefined
  readonly store: Store
  readonly blobs: Blobs
  /** Closes everything, in the reverse order of opening. */
  close(): Promise<void>
}

export interface StorageOptions extends Pick<Store, 'derived'> {
  readonly log: Logger
  /**
   * The address of the bytes of files, when they are not stored with the records: an address like the
   * storage's, or `DRIVER:{JSON options}` of any unstorage driver.
   */
  readonly bytes?: string | undefined
  /** the memory that the workspaces of a folder, or what was read from Redis, may take, in bytes; by default a part of the heap */
  readonly cacheBytes?: number | undefined
  /** handles connections of other processes to the holder of a folder */
  readonly serve?: (socket: Socket) => void
  /** is called once, when another process may have the folder: nothing is answered from then on */
  readonly onLost?: ((reason: Error) => void) | undefined
  /** opens storage whose records have an earlier version, to migrate them; by default, a Redis is refused then */
  readonly allowOutdated?: boolean
  /** allows that a folder that cannot be written to is opened for reading only; is called with the reason when it is */
  readonly onReadOnly?: ((reason: Error) => void) | undefined
}

/** Functions that close what was opened, in the order of opening. */
type Closers = (() => Promise<void>)[]

/** A storage address is invalid. */
export class BadAddress extends Error {
  override readonly name = 'BadAddress'
}

const LOST = 'the file of its lock was removed or replaced, and another process may have the folder'

/** The space of a folder that is kept for changes that only revoke or remove, in bytes. */
const RESERVE_SIZE = 1024 * 1024

const ADDRESS_FORMS =
  'memory, fs:PATH, redis://HOST[:PORT][/DB], rediss://…, unix:///PATH, redis-cluster://HOST:PORT,HOST:PORT or redis-sentinel://HOST:PORT,HOST:PORT/NAME'

/**
 * The kind of storage that an address names.
 * @throws {BadAddress}
 */
export function kindOf(address: string): StorageHandle['kind'] {
  if (address === 'memory') return 'memory'
  if (address.startsWith('fs:~')) throw new BadAddress('the shell does not expand "~" after "fs:"; write the full path')
  if (address.startsWith('fs:') && address.length > 3) return 'fs'
  if (/^(?:(?:redis|valkey)(?:s|-cluster|-sentinel)?|(?:redis\+)?unix):\/\//.test(address)) return 'redis'
  throw new BadAddress(`invalid address; expected ${ADDRESS_FORMS}`)
}

/** The absolute path of the folder of an `fs:` address. */
export function folderOf(address: string): string {
  return resolve(address.slice('fs:'.length))
}

/**
 * Opens the storage at an address.
 * @throws {BadAddress} {@link BadRedisUrl} {@link RangeError} when an address is invalid, or the path is too long
 * @throws {UnusableFolder} {@link FolderInUse} {@link StorageDamaged} {@link SyncFailed} {@link StorageUnavailable}
 * @throws {UnsupportedSchema} when the records have a version that is not read, or one that must be migrated first
 * @throws {BlobMountMismatch} when the bytes belong to another storage
 */
export async function openStorage(address: string, options: StorageOptions): Promise<StorageHandle> {
  const { log, bytes, allowOutdated = false } = options
  const kind = kindOf(address)
  const closers: Closers = []
  const close = () => closeAll(closers)
  try {
    const { store, isReadOnly } = await openStore(kind, address, options, closers)
    if (kind !== 'memory' && !allowOutdated) await requireCurrent({ store, random: systemRandom, isReadOnly, log })
    const driver = await openBlobDriver(bytes ?? defaultBlobAddress(kind, address), log)
    const blobs = createBlobs(driver)
    closers.push(() => blobs.close())
    if (kind !== 'memory' && bytes === 'memory')
      throw new BadAddress('bytes: "memory" is allowed only for records in memory: the bytes would be lost and their records would not')
    if (kind !== 'memory') await checkBlobMount(store, driver, isReadOnly)
    const sqlite = kind === 'fs' ? (await import('./fs/sqlite.ts')).sqliteVersion() : undefined
    return { kind, sqlite, store, blobs, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** @throws the first error, when all were called: a lock is given up in any case */
async function closeAll(closers: Closers): Promise<void> {
  const errors: unknown[] = []
  for (const closer of closers.splice(0).toReversed()) await closer().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

async function openStore(
  kind: StorageHandle['kind'],
  address: string,
  options: StorageOptions,
  closers: Closers,
): Promise<{ store: Store; isReadOnly: boolean }> {
  if (kind === 'fs') return openFolder(folderOf(address), options, closers)
  if (kind === 'memory') return withCloser(createMemoryStore(options.derived), closers)
  // Loaded only when it is used: the client takes a third of the start time of a command.
  const { openRedisStore } = await import('./redis/store.ts')
  return withCloser(await openRedisStore(address, options), closers)
}

function withCloser(store: Store, closers: Closers, isReadOnly = false): { store: Store; isReadOnly: boolean } {
  closers.push(() => store.close())
  return { store, isReadOnly }
}

async function openFolder(
  path: string,
  { log, derived, cacheBytes, serve = () => undefined, onReadOnly, onLost }: StorageOptions,
  closers: Closers,
): Promise<{ store: Store; isReadOnly: boolean }> {
  // Loaded only when it is used, like the client of Redis.
  const [{ openFsStore, openFsStoreForReading }, { isReadOnlyError }] = await Promise.all([
    import('./fs/store.ts'),
    import('./fs/sqlite.ts'),
  ])
  try {
    // Checked before the lock creates files: the folder of another program must not be changed.
    await checkFolder(path)
    let store: FsStore | undefined
    const lock = await lockFolder(path, serve, () => store?.loseTo(LOST))
    closers.push(lock.release)
    store = await openFsStore(path, { log, derived, cacheBytes, reserveSize: RESERVE_SIZE, onLost })
    const opened = withCloser(store, closers)
    if (lock.isLost()) store.loseTo(LOST)
    return opened
  } catch (error) {
    if (onReadOnly === undefined || !isReadOnlyError(error)) throw error
    await closeAll(closers)
    onReadOnly(error as Error)
  }
  const lock = await lockFolderForReading(path)
  closers.push(lock.release)
  return withCloser(await openFsStoreForReading(path, { log, derived, cacheBytes }), closers, true)
}

/**
 * Opens the counters that all processes on a storage share.
 * @returns undefined if the storage allows only one process
 * @throws {StorageUnavailable} when Redis cannot be reached
 */
export async function openCounters(address: string, log: Logger): Promise<SharedCounters | undefined> {
  if (kindOf(address) !== 'redis') return undefined
  const { openRedisCounters } = await import('./redis/counters.ts')
  return openRedisCounters(address, log)
}

/** By default the bytes of files are stored with the records. */
function defaultBlobAddress(kind: StorageHandle['kind'], address: string): string {
  return kind === 'fs' ? `fs:${folderOf(address)}/bytes` : address
}

async function openBlobDriver(address: string, log: Logger): Promise<Driver> {
  const match = /^([a-z0-9-]+):(\{.*\})$/s.exec(address)
  if (match !== null) return createUnstorageDriver(match[1]!, match[2]!)
  const kind = kindOfBlobAddress(address)
  if (kind === 'memory') return memoryDriver()
  if (kind === 'fs') return createFsBlobDriver(folderOf(address))
  const { openRedisBlobDriver } = await import('./redis/blob-driver.ts')
  return openRedisBlobDriver(address, log)
}

function kindOfBlobAddress(address: string): StorageHandle['kind'] {
  try {
    return kindOf(address)
  } catch (error) {
    throw new BadAddress(`bytes: ${(error as Error).message}, or DRIVER:{JSON options} of an unstorage driver`)
  }
}

async function createUnstorageDriver(name: string, options: string): Promise<Driver> {
  if (!Object.hasOwn(builtinDrivers, name)) throw new BadAddress(`bytes: unstorage has no driver "${name}"`)
  try {
    const { default: create } = (await import(builtinDrivers[name as keyof typeof builtinDrivers])) as {
      default: (options: unknown) => Driver
    }
    return create(JSON.parse(options))
  } catch (error) {
    // The message must not contain the options: they may include a password.
    const reason = error instanceof SyntaxError ? 'its options are not valid JSON' : (error as Error).message.split('\n')[0]
    throw new BadAddress(`bytes: the driver "${name}" cannot be created: ${reason}`)
  }
}
