import { constants, writeSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { realDisk, type Disk } from '../store/fs/disk.ts'

/**
 * The real file system, with writes that do not leave the thread: the memory of the operating system takes a few lines in less time than it
 * takes to hand them to another thread. Syncs, which wait for the disk, still have a thread.
 */
export const logFileSystem: Disk = {
  ...realDisk,
  async append(path) {
    const [file, handle] = [await realDisk.append(path), await fs.open(path, constants.O_WRONLY | constants.O_APPEND)]
    const writeNow = (bytes: Uint8Array): void => {
      for (let written = 0; written < bytes.byteLength;) written += writeSync(handle.fd, bytes, written)
    }
    return {
      ...file,
      writeNow,
      write: async (bytes) => writeNow(bytes),
      close: async () => void (await Promise.all([file.close(), handle.close()])),
    }
  },
}
