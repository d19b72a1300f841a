// Ends what a test run leaves behind, and removes its folder. The run's main process holds the other end of stdin: the
// operating system closes it when that process ends in any way, SIGKILL included. This is a separate process in a separate
// process group, so neither the end of the run nor Ctrl-C in its terminal ends it too early. JavaScript, because the oldest
// supported Node.js version cannot run TypeScript.
import { readdirSync, readlinkSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const [runFolder, ...otherFolders] = process.argv.slice(2)

for (const folder of abandonedFolders()) clean(folder)
process.stdin.resume().on('end', () => {
  for (const folder of [runFolder, ...otherFolders]) clean(folder)
  process.exit()
})

/** The folders of earlier runs whose main process and reaper were both killed. The name of a folder contains a process id. */
function abandonedFolders() {
  const parent = dirname(runFolder)
  const isAbandoned = (name) => {
    const pid = /^lanekeeper-test-(\d+)-/.exec(name)?.[1]
    return pid !== undefined && !isRunning(Number(pid))
  }
  return readdirSync(parent)
    .filter(isAbandoned)
    .map((name) => join(parent, name))
}

/** Kills the processes that are registered in a folder (see `ownProcess`), and removes it. */
function clean(folder) {
  for (const name of registered(folder)) if (isInside(name, folder)) kill(Number(name))
  try {
    // A process that is ending may write meanwhile.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  } catch (error) {
    console.error(`cannot remove ${folder}: ${error.message}`)
  }
}

function registered(folder) {
  try {
    return readdirSync(join(folder, 'processes'))
  } catch {
    return []
  }
}

/** Every registered process works in the folder. Where the system can tell, a reused process id is ignored. */
function isInside(pid, folder) {
  if (process.platform !== 'linux') return true
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
  } catch {
    return false
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
