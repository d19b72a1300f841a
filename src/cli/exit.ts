import { CommanderError } from 'commander'
import { PolicyInvariantError } from '../app.ts'
import { ConfigError } from '../config.ts'
import { CannotListen } from '../http/server.ts'
import { RpcServerGone } from '../admin/rpc-client.ts'
import { AdminError } from '../admin/deps.ts'
import { PolicyError } from '../policy/diagnostic.ts'
import { UnusableFolder } from '../store/fs/open.ts'
import { SyncFailed } from '../store/fs/disk.ts'
import { StorageDamaged } from '../store/fs/journal.ts'
import { FolderInUse } from '../store/fs/lock.ts'
import { BlobMountMismatch } from '../store/blob-mount.ts'
import { BadAddress } from '../store/open.ts'
import { StorageUnavailable } from '../store/port.ts'
import { BadRedisUrl } from '../store/redis/client.ts'

/**
 * What a process ends with, so that a script can tell what went wrong. The README has the same table.
 */
export const exits = {
  done: 0,
  /** our own fault */
  failed: 1,
  /** a wrong command, option or setting; a policy that does not hold; an address that cannot be listened on */
  usage: 2,
  /** what was named is not there, is there already, or cannot be what was asked */
  refused: 3,
  /** storage is in use, out of reach, damaged or of another format */
  storage: 4,
} as const

const usage = [ConfigError, PolicyError, PolicyInvariantError, CannotListen, BadAddress, BadRedisUrl, RangeError]
const storage = [BlobMountMismatch, FolderInUse, RpcServerGone, UnusableFolder, StorageDamaged, SyncFailed, StorageUnavailable]

/** The exit code of a failure. */
export function exitOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exits.done : exits.usage
  if (error instanceof AdminError) return error.code === 'invalid' ? exits.usage : exits.refused
  if (usage.some((kind) => error instanceof kind)) return exits.usage
  if (storage.some((kind) => error instanceof kind) || isFileError(error)) return exits.storage
  return exits.failed
}

/** What a person reads of it: one line, unless it is our own fault. */
export function sayFailure(error: unknown): void {
  // commander has said it already.
  if (error instanceof CommanderError) return
  console.error(exitOf(error) === exits.failed ? error : (error as Error).message)
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'code' in error
}
