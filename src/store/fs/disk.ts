import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'

/**
 * The file operations that the fs driver uses. The driver touches files only through this interface, except for its
 * lock. Tests replace it by a disk that fails or loses data at any operation.
 */
export interface Disk {
  /** Opens a file for appending. Creates it when it is missing. */
  append(path: string): Promise<OpenFile>
  /** Opens a file for appending, empty. Truncates an existing file. */
  create(path: string): Promise<OpenFile>
  /** @returns undefined when the file is missing */
  read(path: string): Promise<Buffer | undefined>
  /**
   * Reads a file of any size in parts.
   * @throws an error with the code ENOENT when it is missing
   */
  readParts(path: string): AsyncIterable<Buffer>
  rename(from: string, to: string): Promise<void>
  /** Removes a file. Has no effect when it is missing. */
  remove(path: string): Promise<void>
  /** Removes a folder. Has no effect when it is missing or not empty. */
  removeFolder(path: string): Promise<void>
  /** Creates a folder and its missing parents, accessible to their owner only. */
  makeFolder(path: string): Promise<void>
  /** The names in a folder, sorted. Empty when the folder is missing. */
  list(path: string): Promise<string[]>
  /** The size of a file in bytes. 0 when it is missing. */
  sizeOf(path: string): Promise<number>
  /** The space that is left for this process on the disk of a folder, in bytes. */
  freeBytes(path: string): Promise<number>
  /** Syncs a folder: its names then survive a crash. */
  syncFolder(path: string): Promise<void>
}

/** An open file. */
export interface OpenFile {
  /** in bytes */
  size(): Promise<number>
  /** Writes all bytes at the end of the file. When it throws, some of them may have been written. */
  write(bytes: Uint8Array): Promise<void>
  /** The same without leaving the thread, if the file can do that. For a few lines, which the memory of the operating system takes. */
  writeNow?(bytes: Uint8Array): void
  /** Syncs the file: its content then survives a crash. */
  sync(): Promise<void>
  truncate(size: number): Promise<void>
  /** Whether it is still the file with this path: neither removed nor replaced. */
  isAt(path: string): Promise<boolean>
  close(): Promise<void>
}

/** The size of a part of a file, in bytes. */
const PART_SIZE = 1024 * 1024

/** The real file system. */
export const realDisk: Disk = {
  append: async (path) => openFile(await fs.open(path, constants.O_CREAT | constants.O_RDWR | constants.O_APPEND, 0o600)),
  create: async (path) =>
    openFile(await fs.open(path, constants.O_CREAT | constants.O_RDWR | constants.O_APPEND | constants.O_TRUNC, 0o600)),
  read: (path) => fs.readFile(path).catch(unlessMissing(undefined)),
  async *readParts(path) {
    const file = await fs.open(path)
    try {
      for (;;) {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PART_SIZE))
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  },
  rename: (from, to) => fs.rename(from, to),
  remove: (path) => fs.unlink(path).catch(unlessMissing(undefined)),
  removeFolder: (path) => fs.rmdir(path).catch(unlessCode(['ENOENT', 'ENOTEMPTY', 'EEXIST'], undefined)),
  makeFolder: async (path) => void (await fs.mkdir(path, { recursive: true, mode: 0o700 })),
  list: async (path) => (await fs.readdir(path).catch(unlessMissing([]))).toSorted(),
  sizeOf: async (path) => (await fs.stat(path).catch(unlessMissing({ size: 0 }))).size,
  async freeBytes(path) {
    const { bavail, bsize } = await fs.statfs(path)
    return bavail * bsize
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
    async isAt(path) {
      const [own, other] = await Promise.all([handle.stat(), fs.stat(path).catch(unlessCode(['ENOENT', 'ENOTDIR'], undefined))])
      return own.ino === other?.ino && own.dev === other.dev
    },
    close: () => handle.close(),
  }
}

// All other errors are thrown. unstorage's own fs driver returns them as if they were content.
const unlessMissing = <T>(fallback: T) => unlessCode(['ENOENT'], fallback)

function unlessCode<T>(codes: readonly (string | undefined)[], fallback: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (!codes.includes(error.code)) throw error
    return fallback
  }
}

/** A sync failed. The written data may be lost, and a second sync would not report it. */
export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
}

/**
 * Waits for a sync.
 * @throws {SyncFailed}
 */
export async function assertSynced(sync: Promise<void>): Promise<void> {
  try {
    await sync
  } catch (cause) {
    throw new SyncFailed(`the disk failed to sync written data: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Replaces a file atomically: after a crash it has either its old or its new content.
 * @param chunks the new content
 * @param verify checks the new file, whose path it gets; when it throws, the old content remains
 * @throws {SyncFailed}
 */
export async function replaceFile(
  disk: Disk,
  folder: string,
  name: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  verify: (path: string) => unknown = () => undefined,
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
    await verify(temporary)
    await disk.rename(temporary, `${folder}/${name}`)
  } catch (error) {
    // The temporary file must not use up the space of a full disk.
    await disk.remove(temporary).catch(() => undefined)
    throw error
  }
  await assertSynced(disk.syncFolder(folder))
}
