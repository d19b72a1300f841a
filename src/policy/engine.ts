import { createHash } from 'node:crypto'
import { compile } from './compile.ts'
import { blankRecord, checkFields, decidingRule, derive, factRecord, refuse, type Facts } from './evaluate.ts'
import { factSlot, preparePermission, prepareDefinition, type PreparedPermission } from './prepare.ts'
import { readRules, type Rule } from './rules.ts'
import { readSource, type SourceFile } from './source.ts'
import { readVocabulary, type Vocabulary } from './vocabulary.ts'

/** What the scope table says of a pair. */
export interface ScopeDecision {
  readonly allowed: boolean
  /** the S row that decides the pair */
  readonly row: string
  /** the least value of the ladder that the pair is allowed to */
  readonly required: string
}

/** What the permission table says of a pair. A value: it can be logged, and replayed against other tables. */
export interface Decision {
  readonly outcome: 'allowed' | 'not_found' | 'forbidden'
  readonly permission: string
  readonly fields: readonly string[] | undefined
  /** the facts that it was decided on, as they were given */
  readonly facts: Facts
  /** the definitions that it was decided on */
  readonly derived: Readonly<Record<string, boolean>>
  /** allowed: the rule that allows it */
  readonly rule: string | undefined
  /** allowed: the row of that rule; else the first row that could have allowed it */
  readonly row: string
  /** allowed: why; else what was missing */
  readonly reason: string
}

/** The two tables, compiled. Immutable. */
export interface Engine {
  readonly vocabulary: Vocabulary
  readonly scopeRules: readonly Rule[]
  readonly permissionRules: readonly Rule[]
  /** SHA-256 over the three files, in hex */
  readonly hash: string
  /** @throws {TypeError} where the pair is not in the vocabulary or the fact is missing or unknown */
  checkScope(pair: string, facts: Facts): ScopeDecision
  /**
   * @param facts those of the pair's groups; others are not looked at, though they stay in the decision
   * @param fields the fields that are to change, where the pair is decided field by field
   * @throws {TypeError} where the pair, a fact, a value or a field is missing or not in the vocabulary
   */
  decide(pair: string, facts: Facts, fields?: readonly string[]): Decision
  /**
   * Whether a definition holds: for what follows from a change, where nobody asks for anything.
   * @throws {TypeError} where it is not in the vocabulary, or a fact is missing or unknown
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
 * @throws {PolicyError} with every fault, its place and what to write instead
 */
export function loadEngine(files: PolicyFiles): Engine {
  const vocabulary = readVocabulary(readSource(files.vocabulary))
  const scopeRules = readRules(readSource(files.scopes), 'scopes', vocabulary)
  const permissionRules = readRules(readSource(files.permissions), 'permissions', vocabulary)
  const hash = createHash('sha256')
  for (const { text } of [files.vocabulary, files.scopes, files.permissions]) hash.update(`${Buffer.byteLength(text)}:${text}`)
  return createEngine(vocabulary, scopeRules, permissionRules, hash.digest('hex'))
}

/** Compiles rules that were read already. */
export function createEngine(vocabulary: Vocabulary, scopeRules: readonly Rule[], permissionRules: readonly Rule[], hash: string): Engine {
  const scopes = compile(scopeRules)
  const definitions = compile(permissionRules.filter((rule) => rule.row.startsWith('D')))
  const permissions = compile(permissionRules.filter((rule) => !rule.row.startsWith('D')))
  const asks = new Map(
    [...vocabulary.permissions.values()].map((ask) => [ask.id, preparePermission(ask, vocabulary, scopeRules, permissionRules, scopes)]),
  )
  const derivations = new Map(
    [...vocabulary.definitions.values()].map((definition) => [definition.name, prepareDefinition(definition, vocabulary, permissionRules)]),
  )
  const blank = blankRecord(vocabulary)
  const ladder = [factSlot(vocabulary.scopeOrder)]
  const known = (pair: string): PreparedPermission => asks.get(pair) ?? refuse(`"${pair}" is no pair of the vocabulary`)

  return Object.freeze({
    vocabulary,
    scopeRules,
    permissionRules,
    hash,
    checkScope(pair: string, facts: Facts): ScopeDecision {
      const { permission: permission, required, scopeRow } = known(pair)
      const rule = scopes(permission.action, factRecord(blank, permission.subject, ladder, facts))
      return { allowed: rule !== undefined, row: scopeRow, required }
    },
    decide(pair: string, facts: Facts, fields?: readonly string[]): Decision {
      const prepared = known(pair)
      const { permission: permission, row } = prepared
      checkFields(permission, fields)
      const record = factRecord(blank, permission.subject, prepared.facts, facts)
      const derived = derive(prepared.definitions, record, definitions)
      const rule = decidingRule(permissions, permission.action, record, fields)
      if (rule !== undefined)
        return { outcome: 'allowed', permission: pair, fields, facts, derived, rule: rule.id, row: rule.row, reason: rule.reason }
      const hidden = permission.notFoundUnless.find((name) => derived[name] !== true)
      if (hidden !== undefined)
        return { outcome: 'not_found', permission: pair, fields, facts, derived, rule: undefined, row, reason: `no ${hidden}` }
      return { outcome: 'forbidden', permission: pair, fields, facts, derived, rule: undefined, row, reason: prepared.reason }
    },
    holds(definition: string, facts: Facts): boolean {
      const { facts: wanted, definitions: needed } =
        derivations.get(definition) ?? refuse(`"${definition}" is no definition of the vocabulary`)
      return derive(needed, factRecord(blank, definition, wanted, facts), definitions)[definition]!
    },
  })
}
