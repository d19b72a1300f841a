import { parse } from 'yaml'
import type { Condition, Table } from '../../src/policy/conditions.ts'
import { createEngine, type Engine, type PolicyFiles } from '../../src/policy/engine.ts'
import { PolicyError, type PolicyDiagnostic } from '../../src/policy/diagnostic.ts'
import { readRules, type Rule } from '../../src/policy/rules.ts'
import type { Vocabulary } from '../../src/policy/vocabulary.ts'

/** A rule as the YAML files write it. */
interface RawRule extends Omit<Rule, 'action' | 'subject'> {
  readonly action: string | readonly string[]
  readonly subject: string | readonly string[]
}

/** The tables of a policy with one change in one rule. */
export interface Mutant {
  readonly name: string
  readonly table: Table
  /** all rules of that table */
  readonly rules: readonly RawRule[]
}

const list = (names: string | readonly string[]) => (typeof names === 'string' ? [names] : names)

/** Every small change to the tables that an author could make by mistake. */
export function* mutants(files: PolicyFiles, vocabulary: Vocabulary): Generator<Mutant> {
  for (const table of ['scopes', 'permissions'] as const) {
    const { rules } = parse(files[table].text) as { rules: RawRule[] }
    for (const [i, rule] of rules.entries()) {
      for (const { description, replacement } of changes(rule, vocabulary)) {
        const mutated = rules.flatMap((other, j) => (i === j ? replacement : [other]))
        yield { name: `${rule.id}: ${description}`, table, rules: mutated }
      }
    }
  }
}

interface Change {
  readonly description: string
  readonly replacement: readonly RawRule[]
}

function* changes(rule: RawRule, vocabulary: Vocabulary): Generator<Change> {
  yield { description: 'removed', replacement: [] }
  for (const [name, condition] of Object.entries(rule.conditions)) yield* conditionChanges(rule, name, condition, vocabulary)
  yield* permissionChanges(rule, vocabulary)
  yield* fieldChanges(rule, vocabulary)
}

function* conditionChanges(rule: RawRule, name: string, condition: Condition, vocabulary: Vocabulary): Generator<Change> {
  const { [name]: _removed, ...others } = rule.conditions
  yield { description: `${name} removed`, replacement: [{ ...rule, conditions: others }] }
  if (condition === true) return
  const replace = (description: string, replacement: Condition): Change => ({
    description: `${name} ${description}`,
    replacement: [{ ...rule, conditions: { ...rule.conditions, [name]: replacement } }],
  })
  const accepted = typeof condition === 'string' ? [condition] : condition.$in
  const rest = vocabulary.facts.get(name)!.values.filter((value) => !accepted.includes(value))
  if (rest.length > 0) yield replace('negated', { $in: rest })
  for (const value of rest) yield replace(`or ${value}`, { $in: [...accepted, value] })
  if (accepted.length > 1)
    for (const value of accepted) yield replace(`without ${value}`, { $in: accepted.filter((other) => other !== value) })
}

function* permissionChanges(rule: RawRule, vocabulary: Vocabulary): Generator<Change> {
  const actions = list(rule.action)
  const subjects = list(rule.subject)
  // Adds only permissions of the vocabulary. The loader refuses every rule for another permission.
  const exists = (action: string, subject: string) => vocabulary.permissions.has(`${action} ${subject}`)
  for (const action of vocabulary.actions)
    if (!actions.includes(action) && subjects.every((subject) => exists(action, subject)))
      yield { description: `action ${action} added`, replacement: [{ ...rule, action: [...actions, action] }] }
  for (const subject of vocabulary.subjects)
    if (!subjects.includes(subject) && actions.every((action) => exists(action, subject)))
      yield { description: `subject ${subject} added`, replacement: [{ ...rule, subject: [...subjects, subject] }] }
  if (actions.length > 1)
    for (const action of actions)
      yield { description: `action ${action} removed`, replacement: [{ ...rule, action: actions.filter((other) => other !== action) }] }
  if (subjects.length > 1)
    for (const subject of subjects)
      yield {
        description: `subject ${subject} removed`,
        replacement: [{ ...rule, subject: subjects.filter((other) => other !== subject) }],
      }
}

function* fieldChanges(rule: RawRule, vocabulary: Vocabulary): Generator<Change> {
  const { fields } = rule
  if (fields === undefined) return
  for (const field of vocabulary.permissions.get(`${list(rule.action)[0]} ${list(rule.subject)[0]}`)!.fields!)
    if (!fields.includes(field)) yield { description: `field ${field} added`, replacement: [{ ...rule, fields: [...fields, field] }] }
  for (const field of fields)
    yield { description: `field ${field} removed`, replacement: [{ ...rule, fields: fields.filter((other) => other !== field) }] }
}

/**
 * Loads a mutant of tables as data: a change of a rule leaves the YAML around it as it is, and reading that for every
 * mutant would take most of the time. Returns undefined if the loader refuses the rules.
 */
export function loadMutant({ table, rules }: Mutant, { vocabulary, scopeRules, permissionRules, decisions }: Engine): Engine | undefined {
  const diagnostic = (_at: unknown, message: string): PolicyDiagnostic => ({ path: table, line: 1, column: 1, width: 1, text: '', message })
  const source = { path: table, data: { version: 1, rules }, diagnostic }
  try {
    const tables = {
      scopeRules,
      permissionRules,
      [`${table === 'scopes' ? 'scope' : 'permission'}Rules`]: readRules(source, table, vocabulary),
    }
    return createEngine({ vocabulary, decisions, ...tables, hash: 'mutant' })
  } catch (error) {
    if (error instanceof PolicyError) return undefined
    throw error
  }
}
