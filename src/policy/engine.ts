import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { compile, recordKey } from './compile.ts'
import { readDecisions, type HandWrittenDecisions } from './hand-written-decisions.ts'
import {
  blankRecord,
  checkFields,
  decidingRules,
  derive,
  factRecord,
  factSlot,
  refuse,
  type DefinitionSlot,
  type Facts,
} from './evaluate.ts'
import { readCases } from './hand-written-cases.ts'
import { covers, readRules, type Rule } from './rules.ts'
import { readSource, type SourceFile } from './source.ts'
import type { SpecificationCheck } from './specification.ts'
import { DEFINE, readVocabulary, WEB_APP, type Permission, type Vocabulary } from './vocabulary.ts'

/** Definitions and all definitions that they depend on, in the order of evaluation. */
export function withDependencies(names: readonly string[], vocabulary: Vocabulary, rules: readonly Rule[]): string[] {
  const needed = new Set(names)
  // A Set can grow while it is iterated: added names are visited too.
  for (const name of needed) {
    for (const rule of rules.filter((candidate) => covers(candidate, { action: DEFINE, subject: name })))
      for (const term of Object.keys(rule.conditions)) needed.add(term)
  }
  return [...vocabulary.definitions.keys()].filter((name) => needed.has(name))
}

/** What the scope table decides about a permission. */
export interface ScopeDecision {
  readonly allowed: boolean
  /** the S row of the permission */
  readonly row: string
  /** the least scope that is allowed */
  readonly required: string
}

/** What the permission table decides. Plain data: it can be logged, and replayed against other tables. */
export interface Decision {
  readonly outcome: 'allowed' | 'not_found' | 'forbidden'
  /** `action Subject` */
  readonly permission: string
  readonly fields: readonly string[] | undefined
  /** as they were given */
  readonly facts: Facts
  /** the definitions that were evaluated, and their values */
  readonly derived: Readonly<Record<string, boolean>>
  /** the ids of all rules that allow it, sorted; none if it is not allowed */
  readonly rules: readonly string[]
  /** the row of the permission */
  readonly row: string
  /** the reasons of those rules; if no rule allows it, what was missing */
  readonly reason: string
}

/** The two tables, compiled. Immutable. */
export interface Engine {
  readonly vocabulary: Vocabulary
  readonly scopeRules: readonly Rule[]
  readonly permissionRules: readonly Rule[]
  /** the hand-written decisions that the tables are compared with */
  readonly decisions: HandWrittenDecisions
  /** SHA-256 of all files of the policy, in hexadecimal */
  readonly hash: string
  /**
   * Checks the scope table.
   * @param permission `action Subject`
   * @param facts the fact of the scope order
   * @throws {TypeError} if the permission is not in the vocabulary, or the fact is missing or unknown
   */
  checkScope(permission: string, facts: Facts): ScopeDecision
  /**
   * Checks the permission table.
   * @param permission `action Subject`
   * @param facts the facts of the permission's groups; others are ignored, but they are kept in the decision
   * @param fields the fields to change, if the permission is decided field by field
   * @param without the id of a rule that is ignored. For proofs and explanations.
   * @throws {TypeError} if the permission, a fact, a value or a field is missing or not in the vocabulary
   */
  decide(permission: string, facts: Facts, fields?: readonly string[], without?: string): Decision
  /**
   * Whether a definition holds. For effects of a change that need no permission themselves.
   * @throws {TypeError} if the definition is not in the vocabulary, or a fact is missing or unknown
   */
  holds(definition: string, facts: Facts): boolean
}

/** The files of a policy. */
export type PolicyFiles = Readonly<Record<PolicyFile, SourceFile>>
export type PolicyFile = 'vocabulary' | 'specification' | 'scopes' | 'permissions' | 'cases' | 'operations'

/** The files of a policy, and its file of declared widenings, if it has one. Plain data: they can be handed to another thread. */
export interface PolicyTexts extends PolicyFiles {
  readonly widenings?: SourceFile | undefined
}

/** The path of each file in the folder of a policy. Diagnostics are given for the first file that has any, in this order. */
export const policyPaths: Readonly<Record<PolicyFile, string>> = {
  vocabulary: 'vocabulary.yaml',
  specification: 'specification.yaml',
  scopes: 'scopes.yaml',
  permissions: 'permissions.yaml',
  cases: 'decisions/cases.yaml',
  operations: 'decisions/operations.yaml',
}

/**
 * Reads all files of a policy.
 * @param read a file by its path in the folder
 */
export function filesFrom(read: (path: string) => SourceFile): PolicyFiles {
  const files = Object.entries(policyPaths).map(([file, path]) => [file, read(path)])
  return Object.fromEntries(files) as Record<PolicyFile, SourceFile>
}

/**
 * Reads and compiles a policy.
 * @param check further checks of the specification, for example by a service whose rows are fixed
 * @throws {PolicyError} with the diagnostics of the first file that has any
 */
export function loadEngine(files: PolicyFiles, check?: SpecificationCheck): Engine {
  const steps = loadingSteps(files, check)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The same in several turns of the event loop, so that requests are answered meanwhile: reading one file takes up to 50 ms. */
export async function loadEngineInTurns(files: PolicyFiles, check?: SpecificationCheck): Promise<Engine> {
  const steps = loadingSteps(files, check)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await nextTurn()
  }
}

/** SHA-256 of the files of a policy, in hexadecimal. */
export function hashOf(files: PolicyFiles): string {
  const hash = createHash('sha256')
  for (const name of Object.keys(policyPaths) as PolicyFile[]) hash.update(`${Buffer.byteLength(files[name].text)}:${files[name].text}`)
  return hash.digest('hex')
}

function* loadingSteps(files: PolicyFiles, check?: SpecificationCheck): Generator<undefined, Engine, undefined> {
  const terms = readSource(files.vocabulary)
  yield
  const vocabulary = readVocabulary(terms, readSource(files.specification), check)
  yield
  const scopeRules = readRules(readSource(files.scopes), 'scopes', vocabulary)
  yield
  const permissionRules = readRules(readSource(files.permissions), 'permissions', vocabulary)
  yield
  const operations = readSource(files.operations)
  yield
  const cases = readCases(readSource(files.cases), vocabulary)
  yield
  const decisions = readDecisions(operations, cases, vocabulary)
  return createEngine({ vocabulary, scopeRules, permissionRules, decisions, hash: hashOf(files) })
}

/** What an engine is made of. */
export type EngineParts = Pick<Engine, 'vocabulary' | 'scopeRules' | 'permissionRules' | 'decisions' | 'hash'>

/** Compiles rules that were read and checked. What does not depend on facts is computed now. */
export function createEngine(parts: EngineParts): Engine {
  const { vocabulary, scopeRules, permissionRules } = parts
  const { scopeOrder } = vocabulary
  const scopes = compile(scopeRules)
  const permissions = compile(permissionRules)
  const blank = blankRecord(vocabulary)
  const scopeSlots = [factSlot(scopeOrder)]
  const definitionSlots = (names: readonly string[]): DefinitionSlot[] =>
    withDependencies(names, vocabulary, permissionRules).map((name) => ({
      name,
      key: recordKey(name),
      candidates: permissions(DEFINE, name),
    }))
  const preparePermission = (permission: Permission) => {
    const { action, subject, surface, facts, fields, notFoundUnless, forbiddenUnless } = permission
    const ofScope = scopes(action, subject)
    const isSufficient = (stated: Facts) => decidingRules([ofScope], factRecord(blank, scopeSlots, stated)).length > 0
    const rules = permissionRules.filter((rule) => covers(rule, permission))
    return {
      permission,
      facts: facts.map(factSlot),
      definitions: definitionSlots([...notFoundUnless, ...forbiddenUnless]),
      isSufficient,
      scopeRow: ofScope[0]?.rule.row ?? (surface === undefined ? '(no row)' : 'no token'),
      requiredScope:
        scopeOrder.values.find((value) => isSufficient({ [scopeOrder.name]: value })) ?? (surface === undefined ? '(no scope)' : WEB_APP),
      candidates: new Map((fields ?? [undefined]).map((field) => [field, permissions(action, subject, field)])),
      row: rules[0]?.row ?? '(no row)',
      reason: rules.map((rule) => `${rule.id}: ${rule.reason}`).join(' Or '),
    }
  }
  const preparedPermissions = new Map([...vocabulary.permissions].map(([id, permission]) => [id, preparePermission(permission)]))
  const preparedDefinitions = new Map(
    [...vocabulary.definitions].map(([name, { facts }]) => [name, { facts: facts.map(factSlot), definitions: definitionSlots([name]) }]),
  )
  const lookUp = (id: string) => preparedPermissions.get(id) ?? refuse(`"${id}" is not a permission of the vocabulary`)

  return Object.freeze({
    ...parts,
    checkScope(id: string, facts: Facts): ScopeDecision {
      const { isSufficient, scopeRow, requiredScope } = lookUp(id)
      return { allowed: isSufficient(facts), row: scopeRow, required: requiredScope }
    },
    decide(id: string, facts: Facts, fields?: readonly string[], without?: string): Decision {
      const prepared = lookUp(id)
      const { permission, row, reason, candidates } = prepared
      checkFields(permission, fields)
      const record = factRecord(blank, prepared.facts, facts)
      const derived = derive(prepared.definitions, record, without)
      const rules = decidingRules(
        fields === undefined ? [candidates.get(fields)!] : fields.map((field) => candidates.get(field)!),
        record,
        without,
      )
      // Written out: copying the shared members would take a tenth of a decision.
      if (rules.length > 0)
        return { outcome: 'allowed', permission: id, fields, facts, derived, rules: idsOf(rules), row, reason: reasonsOf(rules) }
      const failed = permission.notFoundUnless.find((name) => derived[name] !== true)
      if (failed !== undefined)
        return { outcome: 'not_found', permission: id, fields, facts, derived, rules: NONE, row, reason: `${failed} does not hold` }
      return { outcome: 'forbidden', permission: id, fields, facts, derived, rules: NONE, row, reason }
    },
    holds(name: string, facts: Facts): boolean {
      const prepared = preparedDefinitions.get(name) ?? refuse(`"${name}" is not a definition of the vocabulary`)
      return derive(prepared.definitions, factRecord(blank, prepared.facts, facts))[name]!
    },
  })
}

const NONE: readonly string[] = Object.freeze([])

function idsOf(rules: readonly Rule[]): readonly string[] {
  return rules.length === 1 ? [rules[0]!.id] : rules.map(({ id }) => id).toSorted()
}

function reasonsOf(rules: readonly Rule[]): string {
  return rules.length === 1 ? rules[0]!.reason : [...new Set(rules.map(({ reason }) => reason))].toSorted().join(' ')
}
