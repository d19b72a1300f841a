import { constants, type Dirent } from 'node:fs'
import * as fs from 'node:fs/promises'

/**
 * The file system, as far as the fs driver needs it. Nothing else of the driver touches a file, so a test can
 * put another one in its place that fails or dies at any step.
 */
export interface Disk {
  /** Opens a file for appending at its end, making it where it is missing. */
  append(path: string): Promise<OpenFile>
  /** Opens a new, empty file in place of what may be there. */
  create(path: string): Promise<OpenFile>
  /** @returns undefined where there is none */
  read(path: string): Promise<Buffer | undefined>
  rename(from: string, to: string): Promise<void>
  /** Removes a file; where there is none, nothing happens. */
  remove(path: string): Promise<void>
  /** Removes a folder; where there is none, or something is in it, nothing happens. */
  removeFolder(path: string): Promise<void>
  /** Makes a folder, with those above it. */
  makeFolder(path: string, mode?: number): Promise<void>
  /** The names in a folder, sorted; none where it is missing. */
  list(path: string): Promise<string[]>
  /** Makes sure that the names in a folder survive a crash. */
  syncFolder(path: string): Promise<void>
}

/** An open file. */
export interface OpenFile {
  size(): Promise<number>
  /** Writes all of it at the end. Where it throws, a part may have been written. */
  write(bytes: Uint8Array): Promise<void>
  /** Makes sure that what was written survives a crash. */
  sync(): Promise<void>
  truncate(size: number): Promise<void>
  close(): Promise<void>
}

/** The real file system. */
export const realDisk: Disk = {
  append: async (path) => openFile(await fs.open(path, constants.O_CREAT | constants.O_RDWR | constants.O_APPEND, 0o600)),
  create: async (path) =>
    openFile(await fs.open(path, constants.O_CREAT | constants.O_RDWR | constants.O_APPEND | constants.O_TRUNC, 0o600)),
  read: (path) => fs.readFile(path).catch(unlessMissing(undefined)),
  rename: (from, to) => fs.rename(from, to),
  remove: (path) => fs.unlink(path).catch(unlessMissing(undefined)),
  removeFolder: (path) => fs.rmdir(path).catch(unlessIn(['ENOENT', 'ENOTEMPTY', 'EEXIST'], undefined)),
  makeFolder: async (path, mode = 0o700) => void (await fs.mkdir(path, { recursive: true, mode })),
  async list(path) {
    const found: Dirent[] = await fs.readdir(path, { withFileTypes: true }).catch(unlessMissing([]))
    return found.map(({ name }) => name).toSorted()
  },
  async syncFolder(path) {
    const folder = await fs.open(path, constants.O_RDONLY)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  },
}

function openFile(handle: fs.FileHandle): OpenFile {
  return {
    size: async () => (await handle.stat()).size,
    async write(bytes) {
      for (let written = 0; written < bytes.byteLength;) written += (await handle.write(bytes, written)).bytesWritten
    },
    sync: () => handle.datasync(),
    truncate: (size) => handle.truncate(size),
    close: () => handle.close(),
  }
}

// Anything else than "it is not there" must be heard: unstorage's own driver answers it as if it were the content.
const unlessMissing = <T>(value: T) => unlessIn(['ENOENT'], value)

function unlessIn<T>(codes: readonly string[], value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
    return value
  }
}

/** A sync failed. What was to be kept may be lost, and a second try would not say so. */
export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
}

/** Waits for a sync. @throws {SyncFailed} */
export async function assertSynced(sync: Promise<void>): Promise<void> {
  try {
    await sync
  } catch (cause) {
    throw new SyncFailed(`the disk failed to keep what was written: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Puts a file in the place of what is there: all of it or, after a crash at any moment, none.
 * @param chunks its content, one after the other
 */
export async function replaceFile(
  disk: Disk,
  folder: string,
  name: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const temporary = `${folder}/.${name}.tmp`
  try {
    const file = await disk.create(temporary)
    try {
      for await (const chunk of chunks) await file.write(chunk)
      await assertSynced(file.sync())
    } finally {
      await file.close()
    }
    await disk.rename(temporary, `${folder}/${name}`)
  } catch (error) {
    // A disk that is full is not to be kept so by this.
    await disk.remove(temporary).catch(() => undefined)
    throw error
  }
  await assertSynced(disk.syncFolder(folder))
}
