import { smallestChanges, type ChangeSet, type Values } from './changes.ts'
import { unmetConditions } from './compile.ts'
import { acceptedValues } from './conditions.ts'
import { describeSet } from './conjunctions.ts'
import type { Decision, Engine } from './engine.ts'
import { answerTo, type Answer } from './enumerate.ts'
import { refuse, type Facts } from './evaluate.ts'
import { pointsOf } from './points.ts'
import { covers, type Rule } from './rules.ts'
import { DEFINE, type Fact, type Permission } from './vocabulary.ts'

/** A condition of a rule that does not hold. */
export interface Unmet {
  /** the fact or definition */
  readonly name: string
  readonly value: string
  /** the values that would make it hold */
  readonly wanted: readonly string[]
}

/** A rule, and whether its conditions hold. */
export interface ExplainedRule {
  readonly id: string
  readonly row: string
  readonly reason: string
  readonly holds: boolean
  readonly unmet: readonly Unmet[]
}

/** A definition that was evaluated, with all rules that can make it true. */
export interface ExplainedDefinition {
  readonly name: string
  readonly means: string
  readonly value: boolean
  readonly rules: readonly ExplainedRule[]
}

/** The decision of the scope table, and the rule that made it. */
export interface ScopeStage {
  readonly allowed: boolean
  readonly granted: string
  readonly required: string
  readonly row: string
  readonly words: string
  /** the id of the rule, and its reason */
  readonly rule: string
  readonly reason: string
}

/** The decision of the permission table, and the definitions and rules that made it. */
export interface PermissionStage {
  readonly outcome: Decision['outcome']
  readonly row: string
  readonly words: string
  readonly definitions: readonly ExplainedDefinition[]
  /** all rules about the permission: if it is allowed, those that hold decide */
  readonly rules: readonly ExplainedRule[]
  /** the false definitions that hide the resource */
  readonly missing: readonly string[]
  /** the fields that no rule allows in this case */
  readonly refusedFields: readonly string[]
}

/** A decision with everything that it depends on. Plain data. */
export interface Explanation {
  /** `action Subject` */
  readonly permission: string
  readonly fields?: readonly string[] | undefined
  /** only the ones that the decision depends on */
  readonly facts: Facts
  readonly answer: Exclude<Answer, 'absent'>
  /** undefined if only the permission table is asked */
  readonly scope?: ScopeStage | undefined
  readonly stage: PermissionStage
  /** if it is denied: the smallest changes that would allow it; none if no change of these facts does */
  readonly changes: readonly ChangeSet[]
  /** if no change does: the facts that would have to differ and are fixed */
  readonly fixed: readonly string[]
}

/**
 * Explains a decision. Both tables are asked whatever the other one decides.
 * @param facts the facts of the permission's groups. With the fact of the scope order, the scope table is asked too.
 * @param fields the fields to change, if the permission is decided field by field
 * @throws {TypeError} if the permission, a fact, a value or a field is missing or not in the vocabulary
 */
export function explain(engine: Engine, id: string, facts: Facts, fields?: readonly string[]): Explanation {
  const permission = engine.vocabulary.permissions.get(id) ?? refuse(`"${id}" is not a permission of the vocabulary`)
  const concerned = factsOf(engine, id, Object.hasOwn(facts, engine.vocabulary.scopeOrder.name))
  const stated = Object.fromEntries(concerned.map(({ name }) => [name, facts[name] ?? refuse(`fact "${name}" is missing`)]))
  const scope = Object.hasOwn(stated, engine.vocabulary.scopeOrder.name) ? explainScope(engine, permission, stated) : undefined
  const stage = explainPermission(engine, permission, stated, fields)
  const answer = scope?.allowed === false ? 'insufficient_scope' : stage.outcome
  const allowed = answer === 'allowed' ? [] : allowedCells(engine, id, concerned, fields)
  const present = Object.values(stated)
  const changes = smallestChanges(allowed, present, concerned, (fact) => fact.fixed !== true)
  const blocked = changes.length > 0 ? [] : smallestChanges(allowed, present, concerned).flat()
  const fixed = concerned.filter((fact) => fact.fixed === true && blocked.some((change) => change.fact === fact.name))
  return { permission: id, fields, facts: stated, answer, scope, stage, changes, fixed: fixed.map(({ name }) => name) }
}

/**
 * The facts of a permission, with the one of the scope order first if the scope table is to be asked.
 * @throws {TypeError} if the permission is not in the vocabulary
 */
export function factsOf({ vocabulary }: Engine, id: string, withScope: boolean): readonly Fact[] {
  const { facts } = vocabulary.permissions.get(id) ?? refuse(`"${id}" is not a permission of the vocabulary`)
  return withScope ? [vocabulary.scopeOrder, ...facts] : facts
}

// Most explanations of a process are about a few permissions, and each search needs all of their cells.
const known = new WeakMap<Engine, Map<string, readonly Values[]>>()

/** All combinations of values of these facts that all tables asked allow it for. */
function allowedCells(engine: Engine, id: string, facts: readonly Fact[], fields: readonly string[] | undefined): readonly Values[] {
  let ofEngine = known.get(engine)
  if (ofEngine === undefined) known.set(engine, (ofEngine = new Map()))
  const withScope = facts.includes(engine.vocabulary.scopeOrder)
  const key = `${id}|${withScope}|${fields?.toSorted().join()}`
  let cells = ofEngine.get(key)
  if (cells === undefined) {
    const allowed = [...pointsOf(facts)].filter((cell) => answerTo(engine, id, cell, fields) === 'allowed')
    ofEngine.set(key, (cells = allowed.map((cell) => facts.map(({ name }) => cell[name]!))))
  }
  return cells
}

function explainScope({ vocabulary, scopeRules, checkScope }: Engine, permission: Permission, facts: Facts): ScopeStage {
  const { allowed, row, required } = checkScope(permission.id, facts)
  const rule = scopeRules.find((candidate) => covers(candidate, permission))
  const words = vocabulary.rows.get(row)?.words ?? ''
  return { allowed, granted: facts[vocabulary.scopeOrder.name]!, required, row, words, rule: rule?.id ?? row, reason: rule?.reason ?? '' }
}

function explainPermission(engine: Engine, permission: Permission, facts: Facts, fields?: readonly string[]): PermissionStage {
  const { vocabulary, permissionRules } = engine
  const { outcome, row, derived } = engine.decide(permission.id, facts, fields)
  const terms = { ...facts, ...derived }
  const explainRules = (about: Pick<Permission, 'action' | 'subject'>, ofFields?: readonly string[]) =>
    permissionRules.filter((rule) => covers(rule, about) && concerns(rule, ofFields)).map((rule) => explainRule(engine, rule, terms))
  return {
    outcome,
    row,
    words: vocabulary.rows.get(row)?.words ?? '',
    definitions: Object.entries(derived).map(([name, value]) => {
      const { means } = vocabulary.definitions.get(name)!
      return { name, means, value, rules: explainRules({ action: DEFINE, subject: name }) }
    }),
    rules: explainRules(permission, fields),
    missing: permission.notFoundUnless.filter((name) => derived[name] !== true),
    refusedFields: (fields ?? []).filter((field) => engine.decide(permission.id, facts, [field]).outcome !== 'allowed'),
  }
}

/** Whether a rule is about one of the fields. */
function concerns(rule: Rule, fields: readonly string[] | undefined): boolean {
  return fields === undefined || rule.fields === undefined || rule.fields.some((field) => fields.includes(field))
}

function explainRule(
  { vocabulary }: Engine,
  { id, row, reason, conditions }: Rule,
  terms: Readonly<Record<string, string | boolean>>,
): ExplainedRule {
  const unmet = unmetConditions(conditions, terms).map((name): Unmet => {
    const accepted = acceptedValues(conditions[name]!)
    const wanted = vocabulary.facts.get(name)?.values.filter((value) => accepted.includes(value)) ?? accepted
    return { name, value: String(terms[name]), wanted }
  })
  return { id, row, reason, holds: unmet.length === 0, unmet }
}

/** A fact that has one of these values. */
export interface Term {
  readonly fact: string
  readonly values: readonly string[]
}

/** An answer, and all cases that give it: in each, all terms hold. One case without terms: always. */
export interface Dependence {
  readonly answer: Exclude<Answer, 'absent'>
  readonly cases: readonly (readonly Term[])[]
}

const ORDER = ['allowed', 'insufficient_scope', 'forbidden', 'not_found'] as const

/**
 * How an answer depends on facts that are not known.
 * @param known facts of the permission; the scope table is asked if they have the fact of the scope order
 * @returns one entry for each answer that is possible
 */
export function dependence(engine: Engine, id: string, known: Facts, fields?: readonly string[]): Dependence[] {
  const withScope = Object.hasOwn(known, engine.vocabulary.scopeOrder.name)
  const dimensions = factsOf(engine, id, withScope).filter(({ name }) => !Object.hasOwn(known, name))
  const answers = new Map([...pointsOf(dimensions)].map((point) => [point, answerTo(engine, id, { ...known, ...point }, fields)]))
  return ORDER.filter((answer) => [...answers.values()].includes(answer)).map((answer) => {
    const conjunctions = describeSet([...answers.keys()], (point) => answers.get(point) === answer, { dimensions, definitions: [] })
    return { answer, cases: conjunctions.map((conjunction) => [...conjunction].map(([fact, values]) => ({ fact, values }))) }
  })
}
