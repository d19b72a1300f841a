import type { Disk, OpenFile } from '../../src/store/fs/disk.ts'

/** A wrapped disk, with what was done on it. */
export interface RecordingDisk extends Disk {
  /** the operations so far, each with its path: `rename a b`, `write a` */
  readonly operations: string[]
  /** the operations that have begun and not ended */
  readonly inProgress: ReadonlySet<string>
}

/**
 * Wraps a disk and records its operations in order.
 * @param before is called before each operation, which waits for it. If it throws or rejects, the operation fails without an effect.
 */
export function recordDisk(disk: Disk, before: (operation: string) => unknown = () => undefined): RecordingDisk {
  const operations: string[] = []
  const inProgress = new Set<string>()
  const step = async <T>(operation: string, run: () => Promise<T>): Promise<T> => {
    operations.push(operation)
    inProgress.add(operation)
    try {
      await before(operation)
      return await run()
    } finally {
      inProgress.delete(operation)
    }
  }
  const wrap = (path: string, file: OpenFile): OpenFile => ({
    size: () => step(`size ${path}`, () => file.size()),
    write: (bytes) => step(`write ${path}`, () => file.write(bytes)),
    sync: () => step(`sync ${path}`, () => file.sync()),
    truncate: (size) => step(`truncate ${path} ${size}`, () => file.truncate(size)),
    isAt: (other) => step(`isAt ${other}`, () => file.isAt(other)),
    close: () => step(`close ${path}`, () => file.close()),
  })
  return {
    operations,
    inProgress,
    append: (path) => step(`append ${path}`, async () => wrap(path, await disk.append(path))),
    create: (path) => step(`create ${path}`, async () => wrap(path, await disk.create(path))),
    read: (path) => step(`read ${path}`, () => disk.read(path)),
    async *readParts(path) {
      const parts = disk.readParts(path)[Symbol.asyncIterator]()
      for (;;) {
        const { done, value } = await step(`readParts ${path}`, () => parts.next())
        if (done === true) return
        yield value
      }
    },
    rename: (from, to) => step(`rename ${from} ${to}`, () => disk.rename(from, to)),
    remove: (path) => step(`remove ${path}`, () => disk.remove(path)),
    removeFolder: (path) => step(`removeFolder ${path}`, () => disk.removeFolder(path)),
    makeFolder: (path) => step(`makeFolder ${path}`, () => disk.makeFolder(path)),
    list: (path) => step(`list ${path}`, () => disk.list(path)),
    sizeOf: (path) => step(`sizeOf ${path}`, () => disk.sizeOf(path)),
    freeBytes: (path) => step(`freeBytes ${path}`, () => disk.freeBytes(path)),
    syncFolder: (path) => step(`syncFolder ${path}`, () => disk.syncFolder(path)),
  }
}

/** An error as the file system throws it. */
export const diskError = (code: string) => Object.assign(new Error(`${code}: injected`), { code })
