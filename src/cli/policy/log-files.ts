import type { LogFile } from '../../decision-log/verify.ts'
import { realDisk } from '../../store/fs/disk.ts'
import { ConfigError } from '../../config.ts'

/** The files of a decision log, each read when it is needed. @param names `-` is stdin */
export function logFiles(names: readonly string[]): LogFile[] {
  return names.map((name) => ({ name: name === '-' ? 'stdin' : name, parts: readParts(name) }))
}

/** @throws {ConfigError} if the file cannot be read */
async function* readParts(name: string): AsyncGenerator<Buffer> {
  try {
    yield* name === '-' ? (process.stdin as AsyncIterable<Buffer>) : realDisk.readParts(name)
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`)
  }
}
