import { parse, stringify } from 'yaml'
import { loadEngine, type Engine, type PolicyFiles } from '../../src/policy/engine.ts'
import { PolicyError } from '../../src/policy/diagnostic.ts'
import type { Vocabulary } from '../../src/policy/vocabulary.ts'

type Condition = string | true | { $in: string[] }
interface RawRule {
  id: string
  row: string
  action: string | string[]
  subject: string | string[]
  fields?: string[]
  conditions: Record<string, Condition>
  reason: string
}

/** One change of one rule of the real tables. */
export interface Mutant {
  readonly name: string
  readonly files: PolicyFiles
}

const list = (words: string | string[]) => (typeof words === 'string' ? [words] : words)

/** Every small change of the tables that a slip of the hand could make. */
export function* mutants(files: PolicyFiles, vocabulary: Vocabulary): Generator<Mutant> {
  for (const table of ['scopes', 'permissions'] as const) {
    const { rules } = parse(files[table].text) as { rules: RawRule[] }
    for (const [i, rule] of rules.entries()) {
      for (const { what, change } of changes(rule, vocabulary)) {
        const mutated = rules.flatMap((other, j) => (i === j ? change : [other]))
        yield {
          name: `${rule.id}: ${what}`,
          files: {
            ...files,
            [table]: { path: files[table].path, text: stringify({ version: 1, rules: mutated }, { aliasDuplicateObjects: false }) },
          },
        }
      }
    }
  }
}

function* changes(rule: RawRule, vocabulary: Vocabulary): Generator<{ what: string; change: RawRule[] }> {
  yield { what: 'dropped', change: [] }
  for (const [fact, condition] of Object.entries(rule.conditions)) {
    const { [fact]: _gone, ...others } = rule.conditions
    yield { what: `${fact} dropped`, change: [{ ...rule, conditions: others }] }
    const instead = (what: string, other: Condition) => ({
      what: `${fact} ${what}`,
      change: [{ ...rule, conditions: { ...rule.conditions, [fact]: other } }],
    })
    if (condition === true) continue
    const values = vocabulary.facts.get(fact)!.values
    const held = typeof condition === 'string' ? [condition] : condition.$in
    const rest = values.filter((value) => !held.includes(value))
    if (rest.length > 0) yield instead('negated', { $in: rest })
    for (const value of rest) yield instead(`or ${value}`, { $in: [...held, value] })
    if (held.length > 1) for (const value of held) yield instead(`without ${value}`, { $in: held.filter((other) => other !== value) })
  }
  // Wider only to pairs that are asked: all others are refused at loading, and each for the same reason.
  const asked = (action: string, subject: string) => vocabulary.permissions.has(`${action} ${subject}`)
  for (const action of vocabulary.actions)
    if (!list(rule.action).includes(action) && list(rule.subject).every((subject) => asked(action, subject)))
      yield { what: `${action} too`, change: [{ ...rule, action: [...list(rule.action), action] }] }
  for (const subject of vocabulary.subjects)
    if (!list(rule.subject).includes(subject) && list(rule.action).every((action) => asked(action, subject)))
      yield { what: `of ${subject} too`, change: [{ ...rule, subject: [...list(rule.subject), subject] }] }
  if (list(rule.action).length > 1)
    for (const action of list(rule.action))
      yield { what: `without ${action}`, change: [{ ...rule, action: list(rule.action).filter((other) => other !== action) }] }
  if (list(rule.subject).length > 1)
    for (const subject of list(rule.subject))
      yield { what: `not of ${subject}`, change: [{ ...rule, subject: list(rule.subject).filter((other) => other !== subject) }] }
  for (const field of vocabulary.permissions.get('update Board')!.fields!)
    if (rule.fields !== undefined && !rule.fields.includes(field))
      yield { what: `field ${field} too`, change: [{ ...rule, fields: [...rule.fields, field] }] }
  for (const field of rule.fields ?? [])
    yield { what: `without field ${field}`, change: [{ ...rule, fields: rule.fields!.filter((other) => other !== field) }] }
}

/** The tables of a mutant, or undefined where it cannot even be loaded. */
export function loadMutant({ files }: Mutant): Engine | undefined {
  try {
    return loadEngine(files)
  } catch (error) {
    if (error instanceof PolicyError) return undefined
    throw error
  }
}
