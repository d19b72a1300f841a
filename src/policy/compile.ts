import { createMongoAbility, type MongoAbility, type RawRuleOf } from '@casl/ability'
import type { Rule } from './rules.ts'

/** A fact record as CASL sees it: fact → value, with an explicit subject. */
export type FactRecord = { [SUBJECT]: string } & Record<string, string | boolean | undefined>

// A symbol, so that no fact can choose the subject. By default CASL takes it from __caslSubjectType__ or
// constructor.modelName in the data.
export const SUBJECT: unique symbol = Symbol('subject')

/**
 * The key of a fact in a record. CASL treats a dot as a path: it walks the path at every check (four times as
 * slow), and it matches any element of an array on the way.
 */
export function recordKey(fact: string): string {
  return fact.replace('.', '/')
}

/** A CASL ability behind two functions, so that no caller can change it. */
export interface Ability {
  /**
   * The rules that allow `action` on the record (for `field`, if given), whatever their order in the table.
   * @param without the id of a rule that is ignored
   */
  allowing(action: string, record: FactRecord, field?: string, without?: string): readonly Rule[]
  /** Whether there is such a rule. */
  allows(action: string, record: FactRecord, without?: string): boolean
}

type RawRule = RawRuleOf<MongoAbility> & { rule: Rule }

/**
 * Compiles rules into an ability. Conditions are compiled now, not at the first check.
 * @throws {Error} if CASL cannot compile a condition
 */
export function compile(rules: readonly Rule[]): Ability {
  const raw = rules.map((rule): RawRule => ({
    action: [...rule.action],
    subject: [...rule.subject],
    // CASL compiles conditions lazily from the objects it was given, so it gets private copies.
    conditions: Object.fromEntries(Object.entries(structuredClone(rule.conditions)).map(([fact, value]) => [recordKey(fact), value])),
    ...(rule.fields === undefined ? {} : { fields: [...rule.fields] }),
    rule: deepFreeze(structuredClone(rule)),
  }))
  const ability = createMongoAbility(deepFreeze(raw) as RawRule[], {
    detectSubjectType: (record) => (record as unknown as FactRecord)[SUBJECT],
  })
  for (const rule of raw) {
    for (const action of rule.action) {
      for (const subject of rule.subject as string[]) for (const compiled of ability.rulesFor(action, subject)) void compiled.ast
    }
  }
  // The ability never changes. CASL would filter its rules by field at every check.
  const matchers = new Map<Rule, Matcher>()
  const candidates = new Map<string, Map<string, readonly Candidate[]>>()
  const candidatesFor = (action: string, subject: string, field: string | undefined): readonly Candidate[] => {
    const key = field === undefined ? subject : `${subject}.${field}`
    const ofAction = candidates.get(action) ?? new Map<string, readonly Candidate[]>()
    candidates.set(action, ofAction)
    const known = ofAction.get(key)
    if (known !== undefined) return known
    const found = ability.rulesFor(action, subject, field).map((compiled) => {
      const { rule } = compiled.origin as RawRule
      return { rule, matches: matchers.get(rule) ?? remember(rule, (record) => compiled.matchesConditions(record as never)) }
    })
    for (const { rule, matches } of found) matchers.set(rule, matches)
    ofAction.set(key, found)
    return found
  }
  return {
    // A record is required by type: given only the name of a subject, CASL ignores conditions.
    allowing(action, record, field, without) {
      const allowing: Rule[] = []
      for (const { rule, matches } of candidatesFor(action, record[SUBJECT], field))
        if (rule.id !== without && matches(record)) allowing.push(rule)
      return allowing
    },
    allows(action, record, without) {
      for (const { rule, matches } of candidatesFor(action, record[SUBJECT], undefined))
        if (rule.id !== without && matches(record)) return true
      return false
    },
  }
}

/** A rule that allows an action on a record whose facts match. */
interface Candidate {
  readonly rule: Rule
  readonly matches: Matcher
}

type Matcher = (record: FactRecord) => boolean
/** The answers of a matcher by the value of a fact, then by that of the next one. */
type Answers = Map<unknown, Answers | boolean>

/**
 * Asks CASL once for each combination of values of the facts in the conditions of a rule. There are few, but a proof asks in thousands of
 * cells, and CASL takes a third of its time.
 */
function remember({ conditions }: Rule, matches: Matcher): Matcher {
  const keys = Object.keys(conditions).map(recordKey)
  if (keys.length === 0) return matches
  const root: Answers = new Map()
  return (record) => {
    let found: Answers | boolean | undefined = root
    for (const key of keys) {
      found = (found as Answers).get(record[key])
      if (found === undefined) return learn(record)
    }
    return found as boolean
  }
  function learn(record: FactRecord): boolean {
    const answer = matches(record)
    let node = root
    for (const [i, key] of keys.entries()) {
      const next = i === keys.length - 1 ? answer : (node.get(record[key]) ?? new Map())
      node.set(record[key], next)
      if (typeof next !== 'boolean') node = next
    }
    return answer
  }
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member)
    Object.freeze(value)
  }
  return value
}
