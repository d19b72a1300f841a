#!/usr/bin/env node
// The command `lanekeeper`, in the package and in a clone. The package has the bundle. A clone has none at first, so it is made here, and
// again when the sources have changed: `npx lanekeeper` links a command once, so the file that it links must be there from the beginning.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = import.meta.dirname
const program = join(root, 'dist/lanekeeper.js')
const sources = join(root, 'src')

// The package has only the documents that are beside the sources.
if (existsSync(join(sources, 'main.ts')) && !isCurrent()) await build()
// The processes that the program starts run the program, and build nothing.
process.argv[1] = program
await import('./dist/lanekeeper.js')

/** Whether the bundle is newer than all that it is made from. */
function isCurrent() {
  const built = modified(program)
  // A folder is newer when a file in it was added, renamed or removed.
  const inputs = readdirSync(sources, { recursive: true }).map((path) => join(sources, path))
  return [sources, join(root, '.bundle.js'), join(root, 'package-lock.json'), ...inputs].every((path) => modified(path) < built)
}

/** The time of the last modification, in milliseconds; 0 when there is no such file. */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Makes the bundle. Stdout belongs to the command. */
async function build() {
  const { spawnSync } = await import('node:child_process')
  if (!existsSync(join(root, 'node_modules/rolldown'))) {
    // A clone from which the development dependencies were removed after the build.
    if (existsSync(program)) return
    console.error('lanekeeper is not built: run "npm ci && npm run build"')
    process.exit(1)
  }
  console.error(`${existsSync(program) ? 'the sources have changed' : 'not built yet'}: building with "node .bundle.js"`)
  const { status } = spawnSync(process.execPath, [join(root, '.bundle.js')], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(1)
}
