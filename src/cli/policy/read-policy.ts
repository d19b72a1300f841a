import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { shippedFolder } from '../../authz/shipped-policy.ts'
import { checkShippedRows } from '../../authz/shipped-rows.ts'
import { ConfigError } from '../../config.ts'
import { loadEngine, policyPaths, type Engine, type PolicyFile, type PolicyFiles } from '../../policy/engine.ts'
import { PolicyInvariantError, readPolicyFolder, readWideningsFile } from '../../policy/folder.ts'
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
 * @param name `shipped`; a folder; or `REVISION` or `REVISION:PATH`, the path from the root of the repository, by default `policies`. What is
 * both a folder and a revision is refused: a folder in a proposed change could stand for the branch that it is compared with. A folder that
 * begins with `.` or `/` is no revision.
 * @throws {PolicyError} if a file is refused
 * @throws {PolicyInvariantError} if a file cannot be read
 */
export function readPolicy(name: string): ReadPolicy {
  if (name === SHIPPED) return readFolder(shippedFolder)
  const isFolder = existsSync(name) && statSync(name).isDirectory()
  if (isFolder && /^[./]/.test(name)) return readFolder(name)
  const isRevision = isCommit(name.split(':')[0]!)
  if (isFolder && isRevision) throw new ConfigError(`"${name}" is a folder and a revision of git: write "./${name}" or "${name}:policies"`)
  if (isFolder) return readFolder(name)
  if (!isRevision) throw new ConfigError(`"${name}" is neither a folder nor a revision of git`)
  const { files, optional } = revisionReader(name)
  return loadTexts({ files: files(), declared: optional(WIDENINGS) }, checkRows)
}

/** Whether a name is a revision of git. One that starts with a dash would be an option. */
function isCommit(revision: string): boolean {
  if (revision === '' || revision.startsWith('-')) return false
  return git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]) !== undefined
}

/** The texts of a policy. Plain data: it can be handed to another thread. */
export interface PolicyTexts {
  readonly files: PolicyFiles
  /** the file in which it declares widenings, if it has one */
  readonly declared: SourceFile | undefined
}

/**
 * Reads a policy from a folder.
 * @throws {PolicyError} if a file is refused
 * @throws {PolicyInvariantError} if a file cannot be read
 */
function readFolder(name: string): ReadPolicy {
  return loadTexts(readTexts(name), checkRows)
}

/** Reads the files of a folder. @throws {PolicyInvariantError} if one cannot be read */
export function readTexts(name: string): PolicyTexts {
  return { files: readPolicyFolder(name, name), declared: readWideningsFile(name, name) }
}

/**
 * The rows of the service are fixed. A policy that names another domain has its own: reviewers use these commands for it, but no service
 * would load it.
 */
const checkRows: SpecificationCheck = (specification, report) => {
  if (specification.domain === undefined) checkShippedRows(specification, report)
}

/** The operations of a policy: those of the service, or those that the decisions of another domain describe. */
export async function listOperations(engine: Engine): Promise<readonly PolicyOperation[]> {
  return engine.vocabulary.domain === undefined ? (await import('../../resources/table.ts')).operations : operationsOf(engine)
}

/**
 * Loads a policy whose files were read.
 * @param check default: the policy is one of the service
 * @throws {PolicyError} if a file is refused
 */
export function loadTexts({ files, declared }: PolicyTexts, check = checkShippedRows): ReadPolicy {
  const engine = loadEngine(files, check)
  const widenings = declared === undefined ? [] : readWidenings(readSource(declared), engine.vocabulary)
  return { engine, widenings }
}

function revisionReader(name: string) {
  const [revision = '', path = 'policies'] = name.split(/:(.*)/s)
  const optional = (file: string): SourceFile | undefined => {
    const at = `${revision}:${posix.join(path, file)}`
    const text = git(['show', '--end-of-options', at])
    return text === undefined ? undefined : { path: at, text }
  }
  const required = (file: string): SourceFile => {
    const found = optional(file)
    if (found === undefined) throw new PolicyInvariantError(`${revision}:${posix.join(path, file)} cannot be read: git has no such file`)
    return found
  }
  return {
    optional,
    files: () =>
      Object.fromEntries(Object.entries(policyPaths).map(([file, at]) => [file, required(at)])) as Record<PolicyFile, SourceFile>,
  }
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
