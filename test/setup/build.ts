import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Its modification time is the start of the last build without errors. */
const MARKER = join(root, 'dist/.built')
const require = createRequire(import.meta.url)
/** What makes the modules, and what makes the bundle from the sources. */
const [TYPESCRIPT, ROLLDOWN] = ['typescript', 'rolldown'].map((name) => require.resolve(`${name}/package.json`)) as [string, string]
const BUNDLE = join(root, 'src/build/bundle.js')

/** Builds `dist` unless it is newer than its sources. @returns why that failed */
export function build(): string | undefined {
  if (isCurrent()) return undefined
  const startedAt = new Date()
  try {
    for (const command of [[join(dirname(TYPESCRIPT), 'bin/tsc')], [BUNDLE]])
      execFileSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
  } catch {
    return 'tsc or rolldown failed, so there is no current build of the service: see their messages at the start of the run'
  }
  writeFileSync(MARKER, '')
  utimesSync(MARKER, startedAt, startedAt)
  return undefined
}

/** Builds the scripts and style sheets for browsers, which the modules of `src/web` read. */
export function buildForBrowsers(): void {
  execFileSync(process.execPath, [BUNDLE, 'browser'], { cwd: root, stdio: 'inherit' })
}

function isCurrent(): boolean {
  const built = modified(MARKER)
  // A folder is newer when a file in it was added, renamed or removed.
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(root, folder, path))
  const others = ['tsconfig.json', 'src', 'policies', 'fixtures/world.yaml'].map((path) => join(root, path))
  return [BUNDLE, TYPESCRIPT, ROLLDOWN, ...others, ...below('src'), ...below('policies')].every((path) => modified(path) < built)
}

/** The time of the last modification, in milliseconds; 0 when there is no such file. */
function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
