import { readFileSync } from 'node:fs'

/**
 * Finds a file of the package.
 * @param path from its root
 */
export function packageFile(path: string): URL {
  // This file, the module that `tsc` makes from it, and the bundle are all two folders below the root.
  return new URL(`../../${path}`, import.meta.url)
}

/** Reads the version of the program: that of the files on disk now. A later one may have been installed since this process began. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
  return version
}
