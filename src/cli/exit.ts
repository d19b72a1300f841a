import { CommanderError } from 'commander'
import { AdminError } from '../admin/deps.ts'

/** Exit codes by kind of error, for scripts. The page of the command line has the same table. */
export const exitCodes = {
  success: 0,
  /** a defect of Lanekeeper */
  internal: 1,
  /** an invalid command, option, setting, input or policy, or an address that cannot be listened on */
  usage: 2,
  /** something that a command names does not exist, exists already, or has the wrong state */
  refused: 3,
  /** the storage is in use, unavailable, damaged or of another format; or a service cannot be reached, or cannot answer now */
  storage: 4,
  /** an export, import, backup or restore is done, without what could not be read */
  incomplete: 5,
  /** `check` has found damage that it has not repaired */
  damage: 6,
  /** `policy test`: the policy does not hold */
  policyFailed: 7,
  /** `policy verify-log` has found a record that was altered, removed or moved */
  altered: 8,
  /** `policy replay` decides a record differently */
  decidedDifferently: 9,
  /** `policy diff`: a policy allows more than before, and does not declare it */
  undeclaredWidening: 10,
  /** `policy explain`: what was asked about is denied */
  denied: 11,
} as const

/** A command has another outcome than success. What it has found was printed before, or is in the message. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exitCode: number

  constructor(outcome: keyof typeof exitCodes, message: string) {
    super(message)
    this.exitCode = exitCodes[outcome]
  }
}

/** Outcomes by the names of errors: the modules of some are loaded only by `serve`, or only when the storage is Redis. */
export const outcomes: Readonly<Record<string, keyof typeof exitCodes>> = {
  BadAddress: 'usage',
  BadRedisUrl: 'usage',
  CannotListen: 'usage',
  ConfigError: 'usage',
  PolicyError: 'usage',
  PolicyInvariantError: 'usage',
  RangeError: 'usage',
  SecretKeyError: 'usage',
  TooDifferent: 'usage',
  BlobMountMismatch: 'storage',
  FolderInUse: 'storage',
  NotLoaded: 'storage',
  RpcServerGone: 'storage',
  StorageDamaged: 'storage',
  StorageUnavailable: 'storage',
  SyncFailed: 'storage',
  UnsupportedSchema: 'storage',
  UnusableFolder: 'storage',
}

/** The exit code of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage
  if (error instanceof Failure) return error.exitCode
  if (error instanceof AdminError) return error.code === 'invalid' ? exitCodes.usage : exitCodes.refused
  if (!(error instanceof Error)) return exitCodes.internal
  if (Object.hasOwn(outcomes, error.name)) return exitCodes[outcomes[error.name]!]
  // The error of a file.
  if ('syscall' in error && 'code' in error) return exitCodes.storage
  return exitCodes.internal
}

/** Prints an error to stderr: its message, or for an internal error everything. */
export function printError(error: unknown): void {
  // commander has printed its errors already.
  if (error instanceof CommanderError) return
  const isDefect = exitCodeOf(error) === exitCodes.internal && !(error instanceof Failure)
  console.error(isDefect ? error : (error as Error).message)
}
