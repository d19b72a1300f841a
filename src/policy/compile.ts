import { createMongoAbility, type MongoAbility, type RawRuleOf } from '@casl/ability'
import type { Rule } from './rules.ts'

/** A fact record as CASL sees it: fact → value, and its subject said explicitly. */
export type FactRecord = { [SUBJECT]: string } & Record<string, string | boolean | undefined>

// A symbol, so that no fact can ever choose what it is asked about (CASL reads __caslSubjectType__ and
// constructor.modelName out of data otherwise).
export const SUBJECT: unique symbol = Symbol('subject')

/**
 * The key of a fact in a record. A dot means a path to CASL, which it would walk at every question (four
 * times as slow), into arrays too.
 */
export function recordKey(fact: string): string {
  return fact.replace('.', '/')
}

/**
 * One CASL ability behind a function that cannot change it.
 * @returns the rule that allows `action` on the record (in `field`, where given), else undefined
 */
export type Ability = (action: string, record: FactRecord, field?: string) => Rule | undefined

type Raw = RawRuleOf<MongoAbility> & { rule: Rule }

/** Compiles rules. What cannot be evaluated throws here, not at the first request. */
export function compile(rules: readonly Rule[]): Ability {
  const raw = rules.map((rule): Raw => ({
    action: [...rule.action],
    subject: [...rule.subject],
    // CASL reads conditions lazily from live objects: these are copies that nobody else holds.
    conditions: Object.fromEntries(Object.entries(structuredClone(rule.conditions)).map(([fact, value]) => [recordKey(fact), value])),
    ...(rule.fields === undefined ? {} : { fields: [...rule.fields] }),
    rule: deepFreeze(structuredClone(rule)),
  }))
  const ability = createMongoAbility(deepFreeze(raw) as Raw[], {
    detectSubjectType: (record) => (record as unknown as FactRecord)[SUBJECT],
  })
  for (const rule of raw) {
    for (const action of rule.action) {
      for (const subject of rule.subject as string[]) for (const compiled of ability.rulesFor(action, subject)) void compiled.ast
    }
  }
  // Typed to take a record always: asked about a type's name, CASL ignores conditions.
  return (action, record, field) => (ability.relevantRuleFor(action, record as never, field)?.origin as Raw | undefined)?.rule
}

/** Freezes a value of plain data, all of it. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member)
    Object.freeze(value)
  }
  return value
}
