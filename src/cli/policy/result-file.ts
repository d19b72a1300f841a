import { writeFileSync } from 'node:fs'
import { ConfigError } from '../../config.ts'

/** Writes what a command has made to a file that an option names. @throws {ConfigError} if it cannot be written */
export function writeResult(option: string, file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new ConfigError(`${option}: ${file} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}
