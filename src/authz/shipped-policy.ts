import { fileURLToPath } from 'node:url'
import { packageFile } from '../model/package-files.ts'
import { loadEngine, type Engine, type PolicyFiles } from '../policy/engine.ts'
import { readPolicyFolder } from '../policy/folder.ts'
import { checkShippedRows } from './shipped-rows.ts'

/** The folder of the policy that ships with the service. */
export const shippedFolder = fileURLToPath(packageFile('policies'))

/**
 * Loads a policy. The one that ships with the service is found from `src` and from `dist`.
 * @param folder default: the shipped policy
 * @throws {PolicyError}
 * @throws {PolicyInvariantError} if a file cannot be read
 */
export function loadPolicy(folder?: string): Engine {
  return loadEngine(readPolicyFiles(folder), checkShippedRows)
}

/**
 * Reads the files of a policy.
 * @param folder default: the shipped policy, which diagnostics call `policies`
 * @throws {PolicyInvariantError} if a file cannot be read
 */
export function readPolicyFiles(folder?: string): PolicyFiles {
  return readPolicyFolder(folder ?? shippedFolder, folder ?? 'policies')
}
