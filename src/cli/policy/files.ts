import { writeFileSync } from 'node:fs'
import { AdminError } from '../../admin/deps.ts'
import { ConfigError } from '../../config.ts'
import type { LogFile } from '../../decision-log/verify.ts'
import { realDisk } from '../../store/fs/disk.ts'

// The files that the options of these commands name.

/**
 * The files of a decision log, each read when it is needed.
 * @param names `-` is stdin
 */
export function logFiles(names: readonly string[]): LogFile[] {
  return names.map((name) => ({ name: name === '-' ? 'stdin' : name, parts: readParts(name) }))
}

/**
 * Reads the lines of a decision log.
 * @param add reads a line.
 * @returns whether it is one of a decision log
 * @throws {ConfigError} if it is not
 */
export async function readLog(
  names: readonly string[],
  add: (text: string, at: { readonly file: string; readonly line: number }) => boolean,
): Promise<void> {
  const { splitLines } = await import('../../decision-log/line.ts')
  for (const { name, parts } of logFiles(names)) {
    let line = 0
    // A crash can leave an incomplete last line.
    for await (const { bytes, isComplete } of splitLines(parts))
      if (!add(bytes.toString(), { file: name, line: ++line }) && isComplete)
        throw new ConfigError(`${name}:${line} is no line of a decision log; see "lanekeeper policy verify-log"`)
  }
}

/**
 * Writes what a command has made to a file that an option names.
 * @throws {ConfigError} if it cannot be written
 */
export function writeResult(option: string, file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new ConfigError(`${option}: ${file} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}

/**
 * @throws {AdminError} if the file does not exist
 * @throws {ConfigError} if it cannot be read
 */
async function* readParts(name: string): AsyncGenerator<Buffer> {
  try {
    yield* name === '-' ? (process.stdin as AsyncIterable<Buffer>) : realDisk.readParts(name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new AdminError('not_found', `${name} does not exist`)
    throw new ConfigError(code === 'EISDIR' ? `${name} is a folder; name the files of the log` : `${name} cannot be read (${code})`)
  }
}
