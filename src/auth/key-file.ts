import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { realDisk, replaceFile } from '../store/fs/disk.ts'
import { SecretKeyError, SecretKeys } from './secret-keys.ts'

/** The name of the file with the keys of a folder. */
const NAME = 'secret.key'
/**
 * The permissions of users who are neither the owner nor in the group. The group may read: files that systemd gives a service look like
 * that.
 */
const OTHERS = 0o007

/**
 * Reads a file of keys.
 * @returns undefined if there is none
 * @throws {SecretKeyError} if it cannot be read, or by every user, or has something else than keys
 */
export function readKeyFile(path: string): SecretKeys | undefined {
  const text = readSecretFile(path)
  if (text === undefined) return undefined
  try {
    return SecretKeys.parse(text)
  } catch (error) {
    throw new SecretKeyError(`${path}: ${(error as Error).message}`)
  }
}

/**
 * Reads a file with a secret.
 * @returns undefined if there is none
 * @throws {SecretKeyError} if it cannot be read, or by every user
 */
export function readSecretFile(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    if ((fstatSync(file).mode & OTHERS) !== 0)
      throw new SecretKeyError(`every user of the machine has access to it; run: chmod 600 ${path}`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new SecretKeyError(`${path}: ${code === undefined ? message : `it cannot be read (${code})`}`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** The file with the keys of a folder. */
export function keyFileIn(folder: string): string {
  return `${folder}/${NAME}`
}

/**
 * Makes the file with the keys of a folder, which only this process uses. It has one key, and survives a crash.
 * @throws {SyncFailed} and the errors of the file system
 */
export async function makeKeyFile(folder: string): Promise<SecretKeys> {
  const text = `${randomBytes(32).toString('base64')}\n`
  await replaceFile(realDisk, folder, NAME, [Buffer.from(text)])
  return SecretKeys.parse(text)
}
