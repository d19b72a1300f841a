import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { policyPaths, type PolicyFile, type PolicyFiles } from './engine.ts'
import type { SourceFile } from './source.ts'
import { WIDENINGS } from './widenings.ts'

/** Whatever is larger is no policy, and reading it would stop a service. */
const MAX_BYTES = 1024 * 1024

/** A policy that cannot be used: a file cannot be read, or tables, facts, decisions and operations contradict each other. */
export class PolicyInvariantError extends Error {
  override readonly name = 'PolicyInvariantError'
}

/**
 * Reads the files of a policy.
 * @param folder the path of its folder
 * @param name the folder as diagnostics show it
 * @throws {PolicyInvariantError} if a file cannot be read
 */
export function readPolicyFolder(folder: string, name: string): PolicyFiles {
  const entries = Object.entries(policyPaths).map(([file, path]) => [
    file,
    { path: join(name, path), text: readText(join(folder, path), join(name, path)) },
  ])
  return Object.fromEntries(entries) as Record<PolicyFile, PolicyFiles[PolicyFile]>
}

/** The file in which a policy declares widenings, if it has one. The parameters are those of {@link readPolicyFolder}. */
export function readWideningsFile(folder: string, name: string): SourceFile | undefined {
  if (!existsSync(join(folder, WIDENINGS))) return undefined
  return { path: join(name, WIDENINGS), text: readText(join(folder, WIDENINGS), join(name, WIDENINGS)) }
}

function readText(path: string, name: string): string {
  try {
    const found = statSync(path)
    if (!found.isFile() || found.size > MAX_BYTES) throw new Error('it is not a file of at most 1 MiB')
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new PolicyInvariantError(`${name} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : (error as Error).message}`)
  }
}
