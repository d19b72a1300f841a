import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Its modification time is the start of the last build without errors. */
const MARKER = join(root, 'dist/.built')
const TYPESCRIPT = createRequire(import.meta.url).resolve('typescript/package.json')

/** Builds `dist` unless it is newer than its sources. @returns why that failed */
export function build(): string | undefined {
  if (isCurrent()) return undefined
  const startedAt = new Date()
  try {
    execFileSync(process.execPath, [join(dirname(TYPESCRIPT), 'bin/tsc')], { cwd: root, stdio: 'inherit' })
  } catch {
    return 'tsc failed, so there is no current build of the service: see its messages at the start of the run'
  }
  writeFileSync(MARKER, '')
  utimesSync(MARKER, startedAt, startedAt)
  return undefined
}

function isCurrent(): boolean {
  const built = modified(MARKER)
  // A folder is newer when a file in it was added, renamed or removed.
  const folders = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((path) => join(root, 'src', path))
  return [join(root, 'tsconfig.json'), TYPESCRIPT, join(root, 'src'), ...folders].every((path) => modified(path) < built)
}

/** The time of the last modification, in milliseconds; 0 when there is no such file. */
function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
