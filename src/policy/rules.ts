import { z } from 'zod'
import { readConditions, type Conditions, type ConditionTerms, type Table } from './conditions.ts'
import { didYouMean } from './diagnostic.ts'
import { readShape, singleLine } from './shape.ts'
import type { Report, Source } from './source.ts'
import { DEFINE, type Permission, type Vocabulary } from './vocabulary.ts'

/** One rule of a table: a CASL rule and the row of the specification that it enforces. */
export interface Rule {
  readonly id: string
  readonly row: string
  readonly action: readonly string[]
  readonly subject: readonly string[]
  readonly fields?: readonly string[] | undefined
  readonly conditions: Conditions
  readonly reason: string
}

const words = z.union(
  [
    z
      .string()
      .min(1)
      .transform((word) => [word]),
    z.array(z.string().min(1)).min(1),
  ],
  { error: 'must be one name or a list of at least one' },
)
const shape = z.strictObject({
  version: z.literal(1),
  rules: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        row: z.string().min(1),
        action: words,
        subject: words,
        fields: z
          .array(z.string().min(1), { error: 'must be a list of at least one field' })
          .min(1, 'must be a list of at least one field')
          .optional(),
        conditions: z.unknown(),
        reason: singleLine,
      }),
    )
    .min(1),
})

/** Whether a rule allows a permission if its conditions hold. */
export function covers(rule: Rule, { action, subject }: Pick<Permission, 'action' | 'subject'>): boolean {
  return rule.action.includes(action) && rule.subject.includes(subject)
}

/** Whether a rule defines a fact. All other rules allow permissions. */
export function isDefinition({ row }: Pick<Rule, 'row'>): boolean {
  return row.startsWith('D')
}

/**
 * Reads one table of rules. Rules only allow: `inverted` is refused, so the order of rules has no effect.
 * @throws {PolicyError} for everything that CASL would interpret differently than the rule reads
 */
export function readRules(source: Source, table: Table, vocabulary: Vocabulary): readonly Rule[] {
  const ids = new Set<string>()
  return readShape(source, shape, (data, reportAt) =>
    data.rules.map((raw, index): Rule => {
      const report: Report = (at, ...message) => reportAt(['rules', index, ...at], ...message)
      if (ids.has(raw.id)) report(['id'], `duplicate id "${raw.id}"`)
      ids.add(raw.id)
      checkRow(raw, table, vocabulary, report)
      const terms = isDefinition(raw) ? checkDefine(raw, vocabulary, report) : checkAllow(raw, table, vocabulary, report)
      return { ...raw, conditions: readConditions(raw.conditions, { vocabulary, ...terms }, report) }
    }),
  )
}

type RawRule = z.output<typeof shape>['rules'][number]
type RuleTerms = Omit<ConditionTerms, 'vocabulary'>

function checkRow({ id, row }: RawRule, table: Table, vocabulary: Vocabulary, report: Report): void {
  if (!vocabulary.rows.has(row))
    report(['row'], `unknown row "${row}"`, didYouMean(row, vocabulary.rows.keys()) ?? 'specification.yaml lists the rows')
  if (row.startsWith('S') !== (table === 'scopes'))
    report(['row'], `row ${row} does not belong to this table`, 'S rows belong to the scope table, all others to the permission table')
  if (id !== row && !(id.startsWith(`${row}.`) && /^\w+\.\w+$/.test(id)))
    report(['id'], `id "${id}" does not match row ${row}`, `write "${row}" or "${row}.NAME"`)
}

/** Checks a D rule. Returns what its conditions can use. */
function checkDefine({ action, subject, fields }: RawRule, vocabulary: Vocabulary, report: Report): RuleTerms {
  if (action.length !== 1 || action[0] !== DEFINE) report(['action'], `the action of a D rule is "${DEFINE}"`, `write "${DEFINE}"`)
  if (fields !== undefined) report(['fields'], 'a definition has no fields', 'remove "fields"', 'key')
  const [target] = subject
  const definition = vocabulary.definitions.get(target!)
  if (subject.length !== 1 || definition === undefined) {
    report(['subject'], `unknown definition "${subject.join(', ')}"`, didYouMean(target!, vocabulary.definitions.keys()))
    return { facts: [], definitions: [] }
  }
  // Only definitions that are evaluated before this one, so that no definition can depend on itself.
  const names = [...vocabulary.definitions.keys()]
  const earlier = names
    .slice(0, names.indexOf(target!))
    .filter((name) => vocabulary.definitions.get(name)!.groups.every((group) => definition.groups.includes(group)))
  return { facts: definition.facts, definitions: earlier }
}

/** Checks an S, P or X rule. Returns what its conditions can use: the terms that all of its permissions have. */
function checkAllow(rule: RawRule, table: Table, vocabulary: Vocabulary, report: Report): RuleTerms {
  checkNames(rule, vocabulary, report)
  const permissions = readPermissions(rule, vocabulary, report)
  if (table === 'scopes') {
    if (rule.fields !== undefined) report(['fields'], 'a scope rule has no fields', 'remove "fields"', 'key')
    return { facts: [vocabulary.scopeOrder], definitions: [] }
  }
  checkFields(permissions, rule.fields, report)
  const [first, ...others] = permissions
  const shared = <Term>(of: (permission: Permission) => readonly Term[]) =>
    first === undefined ? [] : of(first).filter((term) => others.every((permission) => of(permission).includes(term)))
  const definitions = shared(({ notFoundUnless, forbiddenUnless }) => [...notFoundUnless, ...forbiddenUnless])
  return { facts: shared(({ facts }) => facts), definitions }
}

function checkNames({ action, subject }: RawRule, vocabulary: Vocabulary, report: Report): void {
  for (const [i, name] of action.entries())
    if (!vocabulary.actions.has(name))
      report(
        ['action', i],
        `unknown action "${name}"`,
        name === 'manage' ? 'in CASL it means every action: list the actions' : didYouMean(name, vocabulary.actions),
      )
  for (const [i, name] of subject.entries())
    if (!vocabulary.subjects.has(name))
      report(
        ['subject', i],
        `unknown subject "${name}"`,
        name === 'all' ? 'in CASL it means every subject: list the subjects' : didYouMean(name, vocabulary.subjects),
      )
  if (new Set(action).size < action.length) report(['action'], 'duplicate action')
  if (new Set(subject).size < subject.length) report(['subject'], 'duplicate subject')
}

/** Every combination of the rule's actions and subjects. Each must be a permission of the vocabulary. */
function readPermissions({ action: actions, subject: subjects }: RawRule, vocabulary: Vocabulary, report: Report): Permission[] {
  const permissions: Permission[] = []
  for (const action of actions) {
    for (const subject of subjects) {
      const id = `${action} ${subject}`
      const permission = vocabulary.permissions.get(id)
      if (permission !== undefined) permissions.push(permission)
      else if (vocabulary.actions.has(action) && vocabulary.subjects.has(subject))
        report(['subject'], `"${id}" is not a permission of the vocabulary`, 'split the rule, or add the permission to the vocabulary')
    }
  }
  return permissions
}

function checkFields(permissions: readonly Permission[], fields: readonly string[] | undefined, report: Report): void {
  for (const permission of permissions) {
    if (permission.fields === undefined) {
      if (fields !== undefined)
        report(
          ['fields'],
          `"${permission.id}" is not decided field by field`,
          'remove "fields", or mark the permission "by_field" in the vocabulary',
          'key',
        )
    } else if (fields === undefined)
      report([], `"${permission.id}" is decided field by field, and "fields" is missing`, 'without it the rule would apply to every field')
    else
      for (const [i, field] of fields.entries()) {
        if (fields.indexOf(field) < i) report(['fields', i], `duplicate field "${field}"`)
        if (!permission.fields.includes(field))
          report(
            ['fields', i],
            `unknown field "${field}"`,
            field.includes('*') ? 'list the fields: patterns are refused' : didYouMean(field, permission.fields),
          )
      }
  }
}
