import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Names the folder of the run. The workers inherit it. */
const RUN = 'LANEKEEPER_TEST_RUN'

/**
 * Creates the folder of a test run. It becomes the folder for temporary files, also of the workers and of the libraries in them, so
 * that `reaper.js` finds everything in one place.
 */
export function createRunFolder(): string {
  // On macOS, tmpdir() is too long a path for the sockets in the folders of stores.
  const parent = process.platform === 'darwin' ? '/tmp' : tmpdir()
  const folder = mkdtempSync(join(parent, `lanekeeper-test-${process.pid}-`))
  mkdirSync(join(folder, 'processes'))
  for (const name of [RUN, 'TMPDIR', 'TMP', 'TEMP']) process.env[name] = folder
  return folder
}

/** The folder of this run, where processes that tests start work. Undefined outside of a run of `npm test`. */
export function runFolder(): string | undefined {
  return process.env[RUN]
}

/** A new folder of a test. It is removed with the folder of the run. */
export function newFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'lanekeeper-')))
}

/** Processes that were started by this worker and have not ended. */
const children = new Set<ChildProcess>()

/** Registers a process that works in the folder of the run: it is killed when the run ends in any way. */
export function ownProcess<Child extends ChildProcess>(child: Child): Child {
  const folder = runFolder()
  // Without an id, the program does not exist.
  if (folder === undefined || child.pid === undefined) return child
  const entry = join(folder, 'processes', String(child.pid))
  children.add(child)
  writeFileSync(entry, '')
  child.once('exit', () => {
    children.delete(child)
    rmSync(entry, { force: true })
  })
  return child
}

// The main process has ended, and does not stop its workers any more. Vitest sets the variable in workers.
if (process.env['VITEST_POOL_ID'] !== undefined)
  process.once('disconnect', () => {
    for (const child of children) child.kill('SIGKILL')
    process.exit(1)
  })
