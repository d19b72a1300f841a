import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { policyPaths } from '../../src/policy/engine.ts'

/** The folder of the policy of a code host. */
export const repositoriesFolder = fileURLToPath(new URL('../../fixtures/policies/repositories', import.meta.url))

/** Its files: path in the folder → text. */
export function repositoryTexts(): Record<string, string> {
  return Object.fromEntries(Object.values(policyPaths).map((path) => [path, readFileSync(join(repositoriesFolder, path), 'utf8')]))
}
