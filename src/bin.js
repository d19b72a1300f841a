#!/usr/bin/env node
// The command `lanekeeper`, in the package and in a clone. npm links it when it installs, so it is there before the first build.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const sources = import.meta.dirname
const program = join(sources, '../dist/lanekeeper.js')

if (!existsSync(program)) {
  console.error('lanekeeper is not built: run "npm ci && npm run build"')
  process.exit(1)
}
// The package has only this file and the documents of the sources.
if (existsSync(join(sources, 'main.ts')) && !isCurrent())
  console.error('warning: the sources have changed since the build: run "npm run build"')
// The processes that the program starts run the program.
process.argv[1] = program
await import('../dist/lanekeeper.js')

/** Whether the build is newer than the sources. */
function isCurrent() {
  const built = modified(program)
  // A folder is newer when a file in it was added, renamed or removed.
  return ['', ...readdirSync(sources, { recursive: true })].every((path) => modified(join(sources, path)) <= built)
}

/** The time of the last modification, in milliseconds. */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
