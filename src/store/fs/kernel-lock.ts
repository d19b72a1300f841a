import { spawn } from 'node:child_process'
import { close, constants, open } from 'node:fs'
import { promisify } from 'node:util'

/**
 * A lock of the operating system (`flock`) on a folder itself, which ends with the process. It does not depend on any
 * file, so removing files does not release it.
 */
export interface KernelLock {
  release(): Promise<void>
}

/** `O_SHLOCK` and `O_EXLOCK` of macOS and the BSDs: the file is locked when it is opened. */
const OPEN_FLAGS = { shared: 0x10, exclusive: 0x20 }
/** The options of flock(1) for the same. */
const PROGRAM_FLAGS = { shared: '-s', exclusive: '-x' }
/** The exit code of flock(1) when another process holds the lock. */
const HELD = 1

/**
 * Takes the lock of a folder. Node has no function for it. On macOS and the BSDs, a flag of `open` takes it. On Linux
 * the program flock(1) of util-linux or BusyBox takes it on a descriptor that it inherits: the lock belongs to the
 * opened file, which this process keeps.
 * @param mode several processes can have a shared lock, and none of them an exclusive one then
 * @returns `held` if another process has it; `unsupported` if the system or its file system has no such lock
 */
export async function takeKernelLock(
  path: string,
  program = 'flock',
  mode: 'shared' | 'exclusive' = 'exclusive',
): Promise<KernelLock | 'held' | 'unsupported'> {
  const isLinux = process.platform === 'linux'
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | (isLinux ? 0 : OPEN_FLAGS[mode] | constants.O_NONBLOCK)
  let descriptor: number
  try {
    // A number: a FileHandle would be closed when it is not referenced any more.
    descriptor = await promisify(open)(path, flags)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'held' : 'unsupported'
  }
  const exitCode = isLinux ? await run(program, PROGRAM_FLAGS[mode], descriptor) : 0
  if (exitCode === 0) {
    let released: Promise<void> | undefined
    // The number may be that of another file once it is closed.
    return { release: () => (released ??= promisify(close)(descriptor)) }
  }
  await promisify(close)(descriptor)
  return exitCode === HELD ? 'held' : 'unsupported'
}

/** @returns the exit code; null when the program is missing or was killed */
function run(program: string, flag: string, descriptor: number): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(program, [flag, '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
    child.on('error', () => resolve(null))
    child.on('exit', resolve)
  })
}
