import { hasSecrets } from '../admin/secret-keys.ts'
import { keyFileIn, makeKeyFile, readKeyFile } from '../auth/key-file.ts'
import { SecretKeys } from '../auth/secret-keys.ts'
import { ConfigError, type Config } from '../config.ts'
import { folderOf, kindOf } from '../store/open.ts'
import type { Deps } from '../store/transact.ts'

/**
 * Opens the keys that secrets are sealed with, from the settings or else from the folder. A folder without a key gets one, unless it has
 * secrets that were sealed with another. Memory has a key that ends with the process, and Redis has none.
 * @param mayMake whether a folder gets a key
 * @throws {ConfigError} {@link SecretKeyError}
 */
export async function openSecretKeys(
  { storage: address, secretKey, secretKeyFile }: Pick<Config, 'storage' | 'secretKey' | 'secretKeyFile'>,
  deps: Pick<Deps, 'store' | 'random'>,
  mayMake = true,
): Promise<SecretKeys> {
  if (secretKey !== undefined) return secretKey
  if (secretKeyFile !== undefined) {
    const found = readKeyFile(secretKeyFile)
    if (found === undefined) throw new ConfigError(`LANEKEEPER_SECRET_KEY_FILE: there is no file ${secretKeyFile}`)
    return found
  }
  const kind = kindOf(address)
  if (kind === 'memory') return SecretKeys.random()
  if (kind === 'redis') return new SecretKeys([])
  const folder = folderOf(address)
  const found = readKeyFile(keyFileIn(folder))
  if (found !== undefined || !mayMake || (await hasSecrets(deps))) return found ?? new SecretKeys([])
  return makeKeyFile(folder)
}
