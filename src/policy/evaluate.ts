import { recordKey, type Candidate, type FactRecord } from './compile.ts'
import type { Rule } from './rules.ts'
import type { Fact, Permission, Vocabulary } from './vocabulary.ts'

/** `group.fact` → value. */
export type Facts = Readonly<Record<string, string>>

/** A fact, its key in a fact record, and its values. */
export interface FactSlot {
  readonly name: string
  readonly key: string
  readonly values: ReadonlySet<string>
}

/** A fact with its key. */
export function factSlot({ name, values }: Fact): FactSlot {
  return { name, key: recordKey(name), values: new Set(values) }
}

/** A definition, its key in a fact record, and its rules. */
export interface DefinitionSlot {
  readonly name: string
  readonly key: string
  readonly candidates: readonly Candidate[]
}

/**
 * A record with every fact and definition of the vocabulary, all undefined. All records are copies of one blank
 * record: no fact is inherited from a prototype, and V8 sees one object shape, which makes decisions twice as fast.
 */
export function blankRecord(vocabulary: Vocabulary): FactRecord {
  const names = [...vocabulary.facts.keys(), ...vocabulary.definitions.keys()]
  return Object.fromEntries(names.map((name) => [recordKey(name), undefined]))
}

/**
 * The record that CASL checks. It has the names of the vocabulary only: no other member of the caller's object
 * reaches CASL.
 * @throws {TypeError} if a fact is missing or has a value that is not in the vocabulary
 */
export function factRecord(blank: FactRecord, slots: readonly FactSlot[], facts: Facts): FactRecord {
  const record = { ...blank }
  for (const { name, key, values } of slots) {
    const value = Object.hasOwn(facts, name) ? facts[name] : undefined
    if (value === undefined) refuse(`fact "${name}" is missing`)
    if (!values.has(value)) refuse(`"${value}" is not a value of fact "${name}"`)
    record[key] = value
  }
  return record
}

/**
 * Evaluates definitions in their order and adds each to the record, where later definitions and rules use it.
 * @param without the id of a rule that is ignored
 */
export function derive(definitions: readonly DefinitionSlot[], record: FactRecord, without?: string): Record<string, boolean> {
  const derived: Record<string, boolean> = {}
  for (const { name, key, candidates } of definitions)
    derived[name] = record[key] = candidates.some(({ rule, matches }) => rule.id !== without && matches(record))
  return derived
}

/**
 * All rules that allow something. Each of several fields must be allowed by at least one rule, or the result is empty. They are checked
 * separately, because CASL ignores `fields` when it gets no field.
 * @param candidates for each field
 * @param without the id of a rule that is ignored
 */
export function decidingRules(candidates: readonly (readonly Candidate[])[], record: FactRecord, without?: string): readonly Rule[] {
  const allowing: Rule[][] = []
  for (const ofField of candidates) {
    const rules: Rule[] = []
    for (const { rule, matches } of ofField) if (rule.id !== without && matches(record)) rules.push(rule)
    if (rules.length === 0) return rules
    allowing.push(rules)
  }
  return allowing.length === 1 ? allowing[0]! : [...new Set(allowing.flat())]
}

/** @throws {TypeError} if fields are required but not given, not required but given, or unknown */
export function checkFields(permission: Permission, fields: readonly string[] | undefined): void {
  if (permission.fields === undefined) {
    if (fields !== undefined) refuse(`"${permission.id}" is not decided field by field`)
    return
  }
  if (fields === undefined || fields.length === 0) refuse(`"${permission.id}" is decided field by field, but no field is given`)
  for (const field of fields) if (!permission.fields.includes(field)) refuse(`"${field}" is not a field of "${permission.subject}"`)
}

/**
 * Refuses a call that does not fit the vocabulary. This is a defect of the calling code, so it fails closed.
 * @throws {TypeError} always
 */
export function refuse(message: string): never {
  throw new TypeError(`policy: ${message}`)
}
