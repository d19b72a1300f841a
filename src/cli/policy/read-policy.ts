import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { shippedFolder } from '../../authz/shipped-policy.ts'
import { checkShippedRows } from '../../authz/shipped-rows.ts'
import { ConfigError } from '../../config.ts'
import { filesFrom, loadEngine, type Engine, type PolicyTexts } from '../../policy/engine.ts'
import { PolicyInvariantError, readPolicyTexts } from '../../policy/folder.ts'
import { operationsOf, type PolicyOperation } from '../../policy/operations.ts'
import { readSource, type SourceFile } from '../../policy/source.ts'
import type { SpecificationCheck } from '../../policy/specification.ts'
import { readWidenings, WIDENINGS, type Widening } from '../../policy/widenings.ts'

/** A policy and what it declares about its changes. */
export interface ReadPolicy {
  readonly engine: Engine
  readonly widenings: readonly Widening[]
}

/** The name of the policy that is shipped. */
export const SHIPPED = 'shipped'

/**
 * Reads a policy from a folder, or from a revision of a git repository.
 * @param name `shipped`; a folder; or `REVISION` or `REVISION:PATH`, the path from the root of the repository, by default `policies`. What
 * is both a folder and a revision is refused: a folder in a proposed change could stand for the branch that it is compared with. A folder
 * that begins with `.` or `/` is no revision.
 * @throws {PolicyError} if a file is refused
 * @throws {PolicyInvariantError} if a file cannot be read
 */
export function readPolicy(name: string): ReadPolicy {
  const readFolder = (folder: string) => loadTexts(readPolicyTexts(folder, folder), checkRows)
  if (name === SHIPPED) return readFolder(shippedFolder)
  const isFolder = existsSync(name) && statSync(name).isDirectory()
  if (isFolder && /^[./]/.test(name)) return readFolder(name)
  const isRevision = isCommit(name.split(':')[0]!)
  if (isFolder && isRevision) throw new ConfigError(`"${name}" is a folder and a revision of git: write "./${name}" or "${name}:policies"`)
  if (isFolder) return readFolder(name)
  if (!isRevision) throw new ConfigError(`"${name}" is neither a folder nor a revision of git`)
  return loadTexts(readRevision(name), checkRows)
}

/** Whether a name is a revision of git. One that starts with a dash would be an option. */
function isCommit(revision: string): boolean {
  if (revision === '' || revision.startsWith('-')) return false
  return git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]) !== undefined
}

/**
 * The rows of the service are fixed. A policy that names another domain has its own: reviewers use these commands for it, but no service
 * would load it.
 */
const checkRows: SpecificationCheck = (specification, report) => {
  if (specification.domain === undefined) checkShippedRows(specification, report)
}

/** The operations of a policy: the service's, or the ones that the decisions of another domain describe. */
export async function listOperations(engine: Engine): Promise<readonly PolicyOperation[]> {
  return engine.vocabulary.domain === undefined ? (await import('../../resources/table.ts')).operations : operationsOf(engine)
}

/**
 * Loads a policy whose files were read.
 * @param check default: the policy is one of the service
 * @throws {PolicyError} if a file is refused
 */
export function loadTexts(texts: PolicyTexts, check = checkShippedRows): ReadPolicy {
  const engine = loadEngine(texts, check)
  return { engine, widenings: texts.widenings === undefined ? [] : readWidenings(readSource(texts.widenings), engine.vocabulary) }
}

/** @throws {PolicyInvariantError} if the revision lacks a file */
function readRevision(name: string): PolicyTexts {
  const [revision = '', folder = 'policies'] = name.split(/:(.*)/s)
  const find = (file: string): SourceFile | undefined => {
    const path = `${revision}:${posix.join(folder, file)}`
    const text = git(['show', '--end-of-options', path])
    return text === undefined ? undefined : { path, text }
  }
  const read = (file: string): SourceFile => {
    const found = find(file)
    if (found === undefined) throw new PolicyInvariantError(`${revision}:${posix.join(folder, file)} cannot be read: git has no such file`)
    return found
  }
  return { ...filesFrom(read), widenings: find(WIDENINGS) }
}

/** The output of git; undefined if it fails, is not installed, or is not valid UTF-8. */
function git(parameters: readonly string[]): string | undefined {
  try {
    const bytes = execFileSync('git', parameters, { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 16 * 1024 * 1024 })
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
