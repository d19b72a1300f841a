import { AdminError } from '../../admin/deps.ts'
import type { LogFile } from '../../decision-log/verify.ts'
import { realDisk } from '../../store/fs/disk.ts'
import { ConfigError } from '../../config.ts'

/** The files of a decision log, each read when it is needed. @param names `-` is stdin */
export function logFiles(names: readonly string[]): LogFile[] {
  return names.map((name) => ({ name: name === '-' ? 'stdin' : name, parts: readParts(name) }))
}

/** @throws {AdminError} if the file does not exist @throws {ConfigError} if it cannot be read */
async function* readParts(name: string): AsyncGenerator<Buffer> {
  try {
    yield* name === '-' ? (process.stdin as AsyncIterable<Buffer>) : realDisk.readParts(name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new AdminError('not_found', `${name} does not exist`)
    throw new ConfigError(code === 'EISDIR' ? `${name} is a folder; name the files of the log` : `${name} cannot be read (${code})`)
  }
}
