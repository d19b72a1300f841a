import { recordKey, SUBJECT, type Ability, type FactRecord } from './compile.ts'
import type { Rule } from './rules.ts'
import { DEFINE, type Permission, type Vocabulary } from './vocabulary.ts'

/** `group.fact` → value. */
export type Facts = Readonly<Record<string, string>>

/** A definition and its key in a fact record. */
export interface DefinitionSlot {
  readonly name: string
  readonly key: string
}

/** A fact, its key in a fact record, and its values. */
export interface FactSlot extends DefinitionSlot {
  readonly values: ReadonlySet<string>
}

/**
 * A record with every fact and definition of the vocabulary, all undefined. All records are copies of one blank
 * record: no fact is inherited from a prototype, and V8 sees one object shape, which makes decisions twice as fast.
 */
export function blankRecord(vocabulary: Vocabulary): FactRecord {
  const names = [...vocabulary.facts.keys(), ...vocabulary.definitions.keys()]
  return Object.fromEntries([[SUBJECT, ''], ...names.map((name) => [recordKey(name), undefined])]) as FactRecord
}

/**
 * The record that CASL checks. It has the names of the vocabulary only: no other member of the caller's object
 * reaches CASL.
 * @throws {TypeError} if a fact is missing or has a value that is not in the vocabulary
 */
export function factRecord(blank: FactRecord, subject: string, slots: readonly FactSlot[], facts: Facts): FactRecord {
  const record = { ...blank }
  record[SUBJECT] = subject
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
export function derive(
  definitions: readonly DefinitionSlot[],
  record: FactRecord,
  ability: Ability,
  without?: string,
): Record<string, boolean> {
  const derived: Record<string, boolean> = {}
  const subject = record[SUBJECT]
  for (const { name, key } of definitions) {
    record[SUBJECT] = name
    derived[name] = record[key] = ability.allows(DEFINE, record, without)
  }
  record[SUBJECT] = subject
  return derived
}

/**
 * All rules that allow the action. With fields, each field must be allowed by at least one rule, or there is none. Each field is checked
 * separately, because CASL ignores `fields` when it gets no field.
 * @param without the id of a rule that is ignored
 */
export function decidingRules(
  permissions: Ability,
  action: string,
  record: FactRecord,
  fields: readonly string[] | undefined,
  without?: string,
): readonly Rule[] {
  if (fields === undefined) return permissions.allowing(action, record, undefined, without)
  const rules = fields.map((field) => permissions.allowing(action, record, field, without))
  return rules.every((ofField) => ofField.length > 0) ? [...new Set(rules.flat())] : []
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
