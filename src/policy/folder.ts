import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { filesFrom, type PolicyFiles, type PolicyTexts } from './engine.ts'
import type { SourceFile } from './source.ts'
import { WIDENINGS } from './widenings.ts'

/** Whatever is larger is no policy: the longest file that is shipped has 11 KB. To read it would stop a service. */
const MAX_BYTES = 128 * 1024

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
  return filesFrom((path) => readFile(folder, path, name))
}

/** Also reads the policy's file of declared widenings, if it has one. Takes the parameters of {@link readPolicyFolder}. */
export function readPolicyTexts(folder: string, name: string): PolicyTexts {
  const widenings = existsSync(join(folder, WIDENINGS)) ? readFile(folder, WIDENINGS, name) : undefined
  return { ...readPolicyFolder(folder, name), widenings }
}

function readFile(folder: string, file: string, name: string): SourceFile {
  try {
    // A diagnostic quotes the file, so a link in the policy of a stranger could show another file where the diagnostic is shown.
    const path = realpathSync(join(folder, file))
    if (!path.startsWith(`${realpathSync(folder)}${sep}`)) throw new Error('it is a link to a file outside of the folder')
    const found = statSync(path)
    if (!found.isFile() || found.size > MAX_BYTES) throw new Error('it is not a file of at most 128 KiB')
    return { path: join(name, file), text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path)) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new PolicyInvariantError(
      `${join(name, file)} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : (error as Error).message}`,
    )
  }
}
