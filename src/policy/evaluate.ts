import { recordKey, SUBJECT, type Ability, type FactRecord } from './compile.ts'
import type { Rule } from './rules.ts'
import { DEFINE, type Permission, type Vocabulary } from './vocabulary.ts'

/** What is true of a request: `group.fact` → value. */
export type Facts = Readonly<Record<string, string>>

/** A fact, and where its value goes in a fact record. */
export interface FactSlot {
  readonly name: string
  readonly key: string
  readonly values: ReadonlySet<string>
}

/** A definition, and where its value goes in a fact record. */
export type DefinitionSlot = Omit<FactSlot, 'values'>

/**
 * A record in which every word of the vocabulary stands, and none has a value. All records are copies of one:
 * no word can be inherited from a prototype, and V8 sees one shape (which makes a decision twice as fast).
 */
export function blankRecord(vocabulary: Vocabulary): FactRecord {
  const words = [...vocabulary.facts.keys(), ...vocabulary.definitions.keys()]
  return Object.fromEntries([[SUBJECT, ''], ...words.map((word) => [recordKey(word), undefined])]) as FactRecord
}

/**
 * The record that CASL is asked about. It is built anew from the vocabulary's own names: whatever else the
 * caller's object carries never reaches CASL.
 * @throws {TypeError} where a fact is missing or has a value that the vocabulary does not know
 */
export function factRecord(blank: FactRecord, subject: string, wanted: readonly FactSlot[], facts: Facts): FactRecord {
  const record = { ...blank }
  record[SUBJECT] = subject
  for (const { name, key, values } of wanted) {
    const value = Object.hasOwn(facts, name) ? facts[name] : undefined
    if (value === undefined) refuse(`fact "${name}" is missing`)
    if (!values.has(value)) refuse(`"${value}" is no value of fact "${name}"`)
    record[key] = value
  }
  return record
}

/** Evaluates definitions in their order and adds each to the record, for those after it and for the rules. */
export function derive(definitions: readonly DefinitionSlot[], record: FactRecord, ability: Ability): Record<string, boolean> {
  const derived: Record<string, boolean> = {}
  const subject = record[SUBJECT]
  for (const { name, key } of definitions) {
    record[SUBJECT] = name
    derived[name] = record[key] = ability(DEFINE, record) !== undefined
  }
  record[SUBJECT] = subject
  return derived
}

/** The rule that allows all of the fields. Asked about no field, CASL would not look at fields at all. */
export function decidingRule(
  permissions: Ability,
  action: string,
  record: FactRecord,
  fields: readonly string[] | undefined,
): Rule | undefined {
  if (fields === undefined) return permissions(action, record)
  const rules = fields.map((field) => permissions(action, record, field))
  return rules.every((rule) => rule !== undefined) ? rules[0] : undefined
}

/** @throws {TypeError} where fields are needed and not named, or named and not known */
export function checkFields(ask: Permission, fields: readonly string[] | undefined): void {
  if (ask.fields === undefined) {
    if (fields !== undefined) refuse(`"${ask.id}" is not decided field by field`)
    return
  }
  if (fields === undefined || fields.length === 0) refuse(`"${ask.id}" is decided field by field, and none is named`)
  for (const field of fields!) if (!ask.fields.includes(field)) refuse(`"${field}" is no field of "${ask.subject}"`)
}

/** A question that the tables cannot be asked: a fault of the code that asks, so it fails closed. */
export function refuse(message: string): never {
  throw new TypeError(`policy: ${message}`)
}
