import { createHash } from 'node:crypto'
import { compile } from './compile.ts'
import { blankRecord, checkFields, decidingRule, derive, factRecord, refuse, type Facts } from './evaluate.ts'
import { factSlot, prepareDefinition, preparePermission, type PreparedPermission } from './prepare.ts'
import { isDefinition, readRules, type Rule } from './rules.ts'
import { readSource, type SourceFile } from './source.ts'
import { readVocabulary, type Vocabulary } from './vocabulary.ts'

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
  /** the id of the rule that allows it, if one does */
  readonly rule: string | undefined
  /** the row of that rule; if no rule allows it, the row that could have allowed it */
  readonly row: string
  /** the reason of that rule; if no rule allows it, what was missing */
  readonly reason: string
}

/** The two tables, compiled. Immutable. */
export interface Engine {
  readonly vocabulary: Vocabulary
  readonly scopeRules: readonly Rule[]
  readonly permissionRules: readonly Rule[]
  /** SHA-256 of the three files, in hexadecimal */
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
   * @param facts those of the permission's groups; others are ignored, but they are kept in the decision
   * @param fields the fields to change, if the permission is decided field by field
   * @throws {TypeError} if the permission, a fact, a value or a field is missing or not in the vocabulary
   */
  decide(permission: string, facts: Facts, fields?: readonly string[]): Decision
  /**
   * Whether a definition holds. For effects of a change that need no permission themselves.
   * @throws {TypeError} if the definition is not in the vocabulary, or a fact is missing or unknown
   */
  holds(definition: string, facts: Facts): boolean
}

/** The three files of a policy. */
export interface PolicyFiles {
  readonly vocabulary: SourceFile
  readonly scopes: SourceFile
  readonly permissions: SourceFile
}

/**
 * Reads and compiles a policy.
 * @throws {PolicyError} with the diagnostics of the first file that has any
 */
export function loadEngine(files: PolicyFiles): Engine {
  const vocabulary = readVocabulary(readSource(files.vocabulary))
  const scopeRules = readRules(readSource(files.scopes), 'scopes', vocabulary)
  const permissionRules = readRules(readSource(files.permissions), 'permissions', vocabulary)
  const hash = createHash('sha256')
  for (const { text } of [files.vocabulary, files.scopes, files.permissions]) hash.update(`${Buffer.byteLength(text)}:${text}`)
  return createEngine(vocabulary, scopeRules, permissionRules, hash.digest('hex'))
}

/** Compiles rules that were read and checked. @param hash the SHA-256 of their files */
export function createEngine(vocabulary: Vocabulary, scopeRules: readonly Rule[], permissionRules: readonly Rule[], hash: string): Engine {
  const scopes = compile(scopeRules)
  const definitions = compile(permissionRules.filter(isDefinition))
  const permissions = compile(permissionRules.filter((rule) => !isDefinition(rule)))
  const preparedPermissions = new Map(
    [...vocabulary.permissions].map(([id, permission]) => [
      id,
      preparePermission(permission, vocabulary, scopeRules, permissionRules, scopes),
    ]),
  )
  const preparedDefinitions = new Map(
    [...vocabulary.definitions].map(([name, definition]) => [name, prepareDefinition(definition, vocabulary, permissionRules)]),
  )
  const blank = blankRecord(vocabulary)
  const scopeSlots = [factSlot(vocabulary.scopeOrder)]
  const lookUp = (id: string): PreparedPermission => preparedPermissions.get(id) ?? refuse(`"${id}" is not a permission of the vocabulary`)

  return Object.freeze({
    vocabulary,
    scopeRules,
    permissionRules,
    hash,
    checkScope(id: string, facts: Facts): ScopeDecision {
      const { permission, requiredScope, scopeRow } = lookUp(id)
      const rule = scopes(permission.action, factRecord(blank, permission.subject, scopeSlots, facts))
      return { allowed: rule !== undefined, row: scopeRow, required: requiredScope }
    },
    decide(id: string, facts: Facts, fields?: readonly string[]): Decision {
      const prepared = lookUp(id)
      const { permission, row, reason } = prepared
      checkFields(permission, fields)
      const record = factRecord(blank, permission.subject, prepared.facts, facts)
      const derived = derive(prepared.definitions, record, definitions)
      const rule = decidingRule(permissions, permission.action, record, fields)
      if (rule !== undefined)
        return { outcome: 'allowed', permission: id, fields, facts, derived, rule: rule.id, row: rule.row, reason: rule.reason }
      const failed = permission.notFoundUnless.find((name) => derived[name] !== true)
      if (failed !== undefined)
        return { outcome: 'not_found', permission: id, fields, facts, derived, rule: undefined, row, reason: `${failed} does not hold` }
      return { outcome: 'forbidden', permission: id, fields, facts, derived, rule: undefined, row, reason }
    },
    holds(name: string, facts: Facts): boolean {
      const prepared = preparedDefinitions.get(name) ?? refuse(`"${name}" is not a definition of the vocabulary`)
      return derive(prepared.definitions, factRecord(blank, name, prepared.facts, facts), definitions)[name]!
    },
  })
}
