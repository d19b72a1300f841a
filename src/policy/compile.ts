import { createMongoAbility, mongoQueryMatcher, type MongoAbility, type RawRuleOf } from '@casl/ability'
import type { Conditions } from './conditions.ts'
import type { Rule } from './rules.ts'

/** A fact record as CASL sees it: fact or definition → value. */
export type FactRecord = Record<string, string | boolean | undefined>

/**
 * The key of a fact in a record. CASL treats a dot as a path: it walks the path at every check (four times as
 * slow), and it matches any element of an array on the way.
 */
export function recordKey(fact: string): string {
  return fact.replace('.', '/')
}

/** The conditions of a rule as CASL takes them: a copy, with the keys of a record. */
export function caslConditions({ conditions }: Rule): Record<string, unknown> {
  return Object.fromEntries(Object.entries(structuredClone(conditions)).map(([name, value]) => [recordKey(name), value]))
}

/** The names of the conditions that do not hold: CASL is asked about each alone. A rule matches if the list is empty. */
export function unmetConditions(conditions: Conditions, terms: Readonly<FactRecord>): readonly string[] {
  return Object.keys(conditions).filter((name) => !matcherOf(name, conditions)({ [recordKey(name)]: terms[name] }))
}

const matchers = new WeakMap<Conditions, Record<string, (record: FactRecord) => boolean>>()

function matcherOf(name: string, conditions: Conditions): (record: FactRecord) => boolean {
  let known = matchers.get(conditions)
  if (known === undefined) matchers.set(conditions, (known = {}))
  return (known[name] ??= mongoQueryMatcher({ [recordKey(name)]: conditions[name] as never }))
}

/** A rule that allows something on each record that it matches. */
export interface Candidate {
  readonly rule: Rule
  // A record is required by type: given only the name of a subject, CASL ignores conditions.
  readonly matches: (record: FactRecord) => boolean
}

type RawRule = RawRuleOf<MongoAbility> & { rule: Rule }

/**
 * Compiles rules. The ability of CASL stays behind a function, so that no caller can change it.
 * @returns finds the rules that can allow an action on a subject (for a field), whatever their order in the table. Their conditions are
 * compiled then, not at the first check: it throws if CASL cannot compile one.
 */
export function compile(rules: readonly Rule[]): (action: string, subject: string, field?: string) => readonly Candidate[] {
  const raw = rules.map((rule): RawRule => ({
    action: [...rule.action],
    subject: [...rule.subject],
    // CASL compiles conditions lazily from the objects it was given, so it gets private copies.
    conditions: caslConditions(rule) as NonNullable<RawRule['conditions']>,
    ...(rule.fields === undefined ? {} : { fields: [...rule.fields] }),
    rule: deepFreeze(structuredClone(rule)),
  }))
  const ability = createMongoAbility(deepFreeze(raw) as RawRule[])
  return (action, subject, field) =>
    ability.rulesFor(action, subject, field).map((compiled) => {
      void compiled.ast
      const { rule } = compiled.origin as RawRule
      return { rule, matches: (record) => compiled.matchesConditions(record as never) }
    })
}

function deepFreeze<T>(value: T): T {
  // A primitive value, null included, counts as frozen.
  if (!Object.isFrozen(value)) {
    for (const member of Object.values(value as object)) deepFreeze(member)
    Object.freeze(value)
  }
  return value
}
