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

/**
 * A CASL ability behind a function, so that no caller can change it.
 * @returns the rule that allows `action` on the record (for `field`, if given), or undefined
 */
export type Ability = (action: string, record: FactRecord, field?: string) => Rule | undefined

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
  // A record is required by type: given only the name of a subject, CASL ignores conditions.
  return (action, record, field) => (ability.relevantRuleFor(action, record as never, field)?.origin as RawRule | undefined)?.rule
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member)
    Object.freeze(value)
  }
  return value
}
