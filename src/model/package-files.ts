import { readFileSync } from 'node:fs'

/**
 * Finds a file of the package.
 * @param path from its root
 */
export function packageFile(path: string): URL {
  // This file, the module that `tsc` makes from it, and the bundle are all two folders below the root.
  return new URL(`../../${path}`, import.meta.url)
}

/** The version of this program, read when it was loaded. */
export const programVersion: string = readVersion()

/** Whether the files of the program were removed, or replaced by another version, since it was loaded. */
export function isProgramReplaced(): boolean {
  try {
    return readVersion() !== programVersion
  } catch {
    return true
  }
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
  return version
}
