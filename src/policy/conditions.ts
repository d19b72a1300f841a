import { didYouMean } from './diagnostic.ts'
import { checkValue } from './shape.ts'
import type { Path, Report } from './source.ts'
import type { Fact, Vocabulary } from './vocabulary.ts'

/** What a rule requires of one fact: a value, or one of several. A definition can only be required to be true. */
export type Condition = string | true | { readonly $in: readonly string[] }
/** fact or definition → what it must be. All must hold. Never empty. */
export type Conditions = Readonly<Record<string, Condition>>

/** The values that make a condition hold. */
export function acceptedValues(condition: Condition): readonly string[] {
  return typeof condition === 'object' ? condition.$in : [String(condition)]
}

/** The two tables: `scopes` depends on the token only, `permissions` on all other facts. */
export type Table = 'scopes' | 'permissions'

/** The facts and definitions that the conditions of a rule can use. */
export interface ConditionTerms {
  readonly vocabulary: Vocabulary
  readonly facts: readonly Fact[]
  readonly definitions: readonly string[]
}

// The result for a condition that was reported. It is never evaluated: a table with diagnostics is not loaded.
const INVALID: Condition = 'invalid'

/**
 * Reads the conditions of a rule. Only equality and `$in` are accepted. Every other operator of CASL either
 * allows when the fact is missing ($ne, $nin, $regex) or is ignored by the default matcher ($or).
 */
export function readConditions(raw: unknown, terms: ConditionTerms, report: Report): Conditions {
  if (raw === undefined) report([], '"conditions" is missing', 'without it the rule would apply to everyone')
  else if (raw === null || typeof raw !== 'object' || Array.isArray(raw))
    report(['conditions'], '"conditions" must be a map from fact to value', 'write { fact: value }')
  else if (Object.keys(raw).length === 0) report(['conditions'], '"conditions" is empty', 'the rule would apply to everyone')
  else return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, readCondition(name, value, terms, report)]))
  return {}
}

function readCondition(name: string, value: unknown, terms: ConditionTerms, report: Report): Condition {
  const at: Path = ['conditions', name]
  if (terms.definitions.includes(name)) {
    if (value !== true) report(at, 'a definition can only be required to be true', 'write true')
    return true
  }
  const fact = terms.facts.find((one) => one.name === name)
  if (fact === undefined) {
    report(at, ...describeUnavailable(name, terms), 'key')
    return INVALID
  }
  if (typeof value === 'string') {
    checkValue(value, fact, at, report)
    return value
  }
  const operators = value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : []
  if (operators.length === 1 && operators[0] === '$in') return readIn((value as { $in: unknown }).$in, [...at, '$in'], fact, report)
  for (const operator of operators)
    if (operator !== '$in')
      report([...at, operator], `operator "${operator}" is refused`, 'a condition is one value or { $in: [values] }', 'key')
  if (operators.length === 0) report(at, 'a condition is one value or { $in: [values] }', `one of ${fact.values.join(', ')}`)
  return INVALID
}

function readIn(list: unknown, at: Path, fact: Fact, report: Report): Condition {
  if (!Array.isArray(list) || list.length === 0) {
    report(at, '$in requires a list of at least one value')
    return INVALID
  }
  for (const [i, value] of list.entries()) checkValue(value, fact, [...at, i], report)
  if (new Set(list).size < list.length) report(at, 'duplicate value')
  else if (list.length === fact.values.length) report(at, `$in lists all values of ${fact.name}`, 'the condition has no effect: remove it')
  return { $in: list as string[] }
}

function describeUnavailable(name: string, terms: ConditionTerms): [message: string, suggestion: string | undefined] {
  const available = [...terms.facts.map((fact) => fact.name), ...terms.definitions]
  if (name.startsWith('$')) return [`operator "${name}" is refused`, 'CASL silently ignores it here: write two rules instead']
  if (terms.vocabulary.facts.has(name) || terms.vocabulary.definitions.has(name))
    return [
      `"${name}" is not available here`,
      `available: ${available.join(', ')}. The vocabulary lists the facts and definitions of each permission`,
    ]
  return [`unknown fact "${name}"`, didYouMean(name, available) ?? `available: ${available.join(', ')}`]
}
