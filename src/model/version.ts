import { readFileSync } from 'node:fs'

/** Reads the version of the program: that of the files on disk now. A later one may have been installed since this process began. */
export function readVersion(): string {
  // The same relative path from `src` and from `dist`.
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return version
}
