import { didYouMean } from './diagnostic.ts'
import type { Path } from './source.ts'
import type { Vocabulary } from './vocabulary.ts'

/** What one fact must be: a value, one of several, or, for a definition, true. */
export type Condition = string | true | { readonly $in: readonly string[] }
/** fact or definition → what it must be. All must hold. Never empty. */
export type Conditions = Readonly<Record<string, Condition>>

/** Which of the two tables: `scopes` asks about the token alone, `permissions` about everything else. */
export type Table = 'scopes' | 'permissions'
/** Says that something is wrong at a place inside a rule; `on: 'key'` means the name of the member. */
export type Report = (at: Path, message: string, hint?: string, on?: 'key' | 'value') => void

/** What the conditions of one rule may speak of. */
export interface ConditionTerms {
  readonly table: Table
  readonly vocabulary: Vocabulary
  /** the groups whose facts may be named */
  readonly groups: readonly string[]
  /** the definitions that may be named */
  readonly definitions: readonly string[]
}

/**
 * Reads the conditions of a rule: equality and `$in` over facts of a closed vocabulary, and nothing else.
 * Every other operator of CASL either allows on a missing fact ($ne, $nin, $regex) or is silently ignored by
 * its default matcher ($or).
 */
export function readConditions(raw: unknown, scope: ConditionTerms, report: Report): Conditions {
  if (raw === undefined) report([], '"conditions" is missing', 'without it the rule would hold for everyone')
  else if (raw === null || typeof raw !== 'object' || Array.isArray(raw))
    report(['conditions'], 'conditions are a map from fact to value', 'write { fact: value }')
  else if (Object.keys(raw).length === 0) report(['conditions'], 'conditions are empty', 'the rule would hold for everyone')
  else return Object.fromEntries(Object.entries(raw).map(([fact, value]) => [fact, readCondition(fact, value, scope, report)]))
  return {}
}

function readCondition(name: string, value: unknown, scope: ConditionTerms, report: Report): Condition {
  const at: Path = ['conditions', name]
  if (scope.definitions.includes(name)) {
    if (value !== true) report(at, `a definition is asked for being true`, 'write true')
    return true
  }
  const fact = nameable(scope).get(name)
  if (fact === undefined) {
    report(at, ...unknown(name, scope), 'key')
    return 'nothing'
  }
  if (typeof value === 'string') {
    if (!fact.values.includes(value))
      report(at, `"${value}" is no value of ${name}`, didYouMean(value, fact.values) ?? `one of ${fact.values.join(', ')}`)
    return value
  }
  const operators = value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : []
  if (operators.length === 1 && operators[0] === '$in') return readIn((value as { $in: unknown }).$in, [...at, '$in'], fact, report)
  for (const operator of operators)
    if (operator !== '$in')
      report([...at, operator], `operator "${operator}" is refused`, 'a condition is a value, or { $in: [values] }', 'key')
  if (operators.length === 0) report(at, 'a condition is a value, or { $in: [values] }', `one of ${fact.values.join(', ')}`)
  return 'nothing'
}

function readIn(list: unknown, at: Path, fact: { name: string; values: readonly string[] }, report: Report): Condition {
  if (!Array.isArray(list) || list.length === 0) {
    report(at, '$in takes a list of at least one value')
    return 'nothing'
  }
  for (const [i, value] of list.entries()) {
    if (typeof value !== 'string' || !fact.values.includes(value))
      report(
        [...at, i],
        `"${String(value)}" is no value of ${fact.name}`,
        didYouMean(String(value), fact.values) ?? `one of ${fact.values.join(', ')}`,
      )
  }
  if (new Set(list).size < list.length) report(at, 'a value stands twice')
  else if (list.length === fact.values.length) report(at, `all values of ${fact.name} stand here`, 'the condition says nothing: remove it')
  return { $in: list as string[] }
}

function nameable({ table, vocabulary, groups }: ConditionTerms) {
  if (table === 'scopes') return new Map([[vocabulary.scopeOrder.name, vocabulary.scopeOrder]])
  return new Map(groups.flatMap((group) => (vocabulary.groups.get(group) ?? []).map((fact) => [fact.name, fact] as const)))
}

function unknown(name: string, scope: ConditionTerms): [message: string, hint: string | undefined] {
  const known = [...nameable(scope).keys(), ...(scope.table === 'scopes' ? [] : scope.definitions)]
  if (name.startsWith('$')) return [`operator "${name}" is refused`, 'CASL ignores it here without a word: write two rules instead']
  if (scope.vocabulary.facts.has(name) || scope.vocabulary.definitions.has(name))
    return [`"${name}" is not known where this is asked`, `known here: ${known.join(', ')}`]
  return [`unknown fact "${name}"`, didYouMean(name, known) ?? `known here: ${known.join(', ')}`]
}
