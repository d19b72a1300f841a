import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The size of the file system, in bytes. */
const SIZE = 64 * 1024 * 1024
/** Mounts the image $0 at $1, for the command that follows only: the mount ends with its process. */
const MOUNT = 'mount -o loop "$0" "$1" && shift && exec "$@"'
/**
 * A program that calls the ioctl EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH when it gets a line: the file system then writes
 * nothing to its device any more, neither cached data nor its journal. What was not synced is lost, as when the power fails.
 */
const SHUTDOWN = `
open(my $file, "<", $ARGV[0]) or die "$!\\n";
$| = 1; print "ready"; <STDIN>;
my $flag = pack("L", 2); ioctl($file, 0x8004587d, $flag) or die "$!\\n"`

/** An ext4 file system in a file, whose power can be cut. */
export class PowerDisk {
  readonly #folder: string
  readonly #image: string
  /** where it is mounted, for the processes that {@link command} starts */
  readonly path: string

  private constructor(folder: string) {
    this.#folder = folder
    this.#image = join(folder, 'image')
    this.path = join(folder, 'mount')
  }

  static async create(): Promise<PowerDisk> {
    const disk = new PowerDisk(await mkdtemp(join(tmpdir(), 'lanekeeper-power-')))
    await run('mkdir', [disk.path])
    const file = await open(disk.#image, 'w')
    await file.truncate(SIZE)
    await file.close()
    await run('mkfs.ext4', ['-q', '-F', disk.#image])
    return disk
  }

  /** The command line of a process that has the file system mounted. The mount ends with the process. */
  command(...program: readonly string[]): readonly string[] {
    return ['unshare', '--mount', 'sh', '-c', MOUNT, this.#image, this.path, ...program]
  }

  /**
   * Prepares to cut the power of the file system that a process has mounted.
   * @returns a function that cuts it. The process itself goes on, and all its writes fail.
   */
  async prepareCut(pid: number): Promise<() => Promise<void>> {
    const cutting = run('nsenter', ['--mount', '--target', String(pid), 'perl', '-e', SHUTDOWN, this.path])
    // When it fails before it is ready, its stdout ends.
    await Promise.race([once(cutting.child.stdout!, 'data'), once(cutting.child.stdout!, 'end')])
    return async () => {
      cutting.child.stdin!.end('\n')
      await cutting
    }
  }

  /** Mounts the file system again, which repairs it from its journal, and copies a folder of it. The process with the mount has ended. */
  async recover(name: string): Promise<string> {
    await this.#released()
    const copy = await mkdtemp(join(this.#folder, 'copy-'))
    const [program, ...args] = this.command('cp', '-a', `${this.path}/${name}/.`, copy)
    await run(program!, args)
    await this.#released()
    return copy
  }

  async remove(): Promise<void> {
    await this.#released()
    await rm(this.#folder, { recursive: true })
  }

  /** Waits until the image belongs to no device. The system unmounts it some time after its process has ended. */
  async #released(): Promise<void> {
    while ((await run('losetup', ['--associated', this.#image])).stdout !== '') await delay(5)
  }
}

/** Why the power of a file system cannot be cut here; undefined if it can. */
export async function whyPowerStays(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'that needs root on Linux'
  let disk: PowerDisk | undefined
  try {
    disk = await PowerDisk.create()
    const [program, ...args] = disk.command('sh', '-c', 'touch "$1/unsynced" && echo | perl -e "$0" "$1"', SHUTDOWN, disk.path)
    await run(program!, args)
    const left = await readdir(await disk.recover(''))
    return left.includes('unsynced') ? 'what was not synced is still there' : undefined
  } catch (error) {
    return `it failed here: ${(error as Error).message.trim().split('\n').at(-1)}`
  } finally {
    await disk?.remove()
  }
}
