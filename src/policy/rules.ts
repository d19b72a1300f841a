import { z } from 'zod'
import { readConditions, type Conditions, type Report, type ConditionTerms, type Table } from './conditions.ts'
import { didYouMean, PolicyError, type PolicyDiagnostic } from './diagnostic.ts'
import { readShape, sentence } from './shape.ts'
import type { Source } from './source.ts'
import { DEFINE, type Permission, type Vocabulary } from './vocabulary.ts'

/** One rule of a table: a CASL rule with the row of the specification that it enforces. */
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
  { error: 'one word, or a list of at least one' },
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
        fields: z.array(z.string().min(1), { error: 'a list of at least one field' }).min(1, 'a list of at least one field').optional(),
        conditions: z.unknown(),
        reason: sentence,
      }),
    )
    .min(1),
})
const KEYS = ['version', 'rules', 'id', 'row', 'action', 'subject', 'fields', 'conditions', 'reason']

/**
 * Reads one table of rules against the vocabulary. Tables only ever allow: there is no `inverted`, so the
 * order of rules means nothing.
 * @throws {PolicyError} for each way in which a rule could mean something else than it says
 */
export function readRules(source: Source, table: Table, vocabulary: Vocabulary): readonly Rule[] {
  const data = readShape(source, shape, KEYS)
  const problems: PolicyDiagnostic[] = []
  const ids = new Set<string>()
  const rules = data.rules.map((raw, index): Rule => {
    const report: Report = (at, message, hint, on) =>
      void problems.push(source.diagnostic(['rules', index, ...at], message, { hint, on, rule: raw.id }))
    if (ids.has(raw.id)) report(['id'], `id "${raw.id}" stands twice`)
    ids.add(raw.id)
    checkRow(raw, table, vocabulary, report)
    const speakable = raw.row.startsWith('D') ? checkDefine(raw, vocabulary, report) : checkPermissions(raw, table, vocabulary, report)
    const conditions = readConditions(raw.conditions, { table, vocabulary, ...speakable }, report)
    return { ...raw, conditions }
  })
  if (problems.length > 0) throw new PolicyError(problems)
  return rules
}

type RawRule = z.output<typeof shape>['rules'][number]
type RuleTerms = Pick<ConditionTerms, 'groups' | 'definitions'>

function checkRow({ id, row }: RawRule, table: Table, vocabulary: Vocabulary, report: Report): void {
  if (!vocabulary.rows.has(row))
    report(['row'], `unknown row "${row}"`, didYouMean(row, vocabulary.rows.keys()) ?? 'rows are listed in the vocabulary')
  if (row.startsWith('S') !== (table === 'scopes'))
    report(['row'], `row ${row} does not belong into this table`, 'S rows stand in the scope table, all others in the permission table')
  if (id !== row && !(id.startsWith(`${row}.`) && /^\w+\.\w+$/.test(id)))
    report(['id'], `id "${id}" does not tell its row`, `write "${row}" or "${row}.something"`)
}

function checkDefine({ action, subject, fields }: RawRule, vocabulary: Vocabulary, report: Report): RuleTerms {
  if (action.length !== 1 || action[0] !== DEFINE) report(['action'], 'a D row defines', `write "${DEFINE}"`)
  if (fields !== undefined) report(['fields'], 'a definition has no fields', 'remove it', 'key')
  const [target] = subject
  const definition = vocabulary.definitions.get(target!)
  if (subject.length !== 1 || definition === undefined) {
    report(['subject'], `unknown definition "${subject.join(', ')}"`, didYouMean(target!, vocabulary.definitions.keys()))
    return { groups: [], definitions: [] }
  }
  const names = [...vocabulary.definitions.keys()]
  // Only what is evaluated before this one: so a definition can never depend on itself.
  const earlier = names
    .slice(0, names.indexOf(target!))
    .filter((name) => vocabulary.definitions.get(name)!.groups.every((group) => definition.groups.includes(group)))
  return { groups: definition.groups, definitions: earlier }
}

function checkPermissions({ action, subject, fields }: RawRule, table: Table, vocabulary: Vocabulary, report: Report): RuleTerms {
  const asks: Permission[] = []
  for (const [i, verb] of action.entries())
    if (!vocabulary.actions.has(verb))
      report(
        ['action', i],
        `unknown action "${verb}"`,
        verb === 'manage' ? 'to CASL it means every action: list the actions' : didYouMean(verb, vocabulary.actions),
      )
  for (const [i, name] of subject.entries())
    if (!vocabulary.subjects.has(name))
      report(
        ['subject', i],
        `unknown subject "${name}"`,
        name === 'all' ? 'to CASL it means every subject: list the subjects' : didYouMean(name, vocabulary.subjects),
      )
  if (new Set(action).size < action.length) report(['action'], 'an action stands twice')
  if (new Set(subject).size < subject.length) report(['subject'], 'a subject stands twice')
  for (const verb of action) {
    for (const name of subject) {
      const ask = vocabulary.permissions.get(`${verb} ${name}`)
      if (ask !== undefined) asks.push(ask)
      else if (vocabulary.actions.has(verb) && vocabulary.subjects.has(name))
        report(['subject'], `"${verb} ${name}" is never asked`, 'split the rule, or add the pair to the vocabulary')
    }
  }
  if (table === 'permissions') checkFields(asks, fields, report)
  else if (fields !== undefined) report(['fields'], 'a scope opens a pair, whatever the field', 'remove the fields', 'key')
  const shared = (of: (ask: Permission) => readonly string[]) =>
    asks[0] === undefined ? [] : of(asks[0]).filter((word) => asks.every((ask) => of(ask).includes(word)))
  return { groups: shared((ask) => ask.groups), definitions: shared((ask) => ask.notFoundUnless) }
}

function checkFields(asks: readonly Permission[], fields: readonly string[] | undefined, report: Report): void {
  for (const ask of asks) {
    if (ask.fields === undefined) {
      if (fields !== undefined)
        report(
          ['fields'],
          `"${ask.id}" is not decided field by field`,
          'remove the fields, or mark the pair by_field in the vocabulary',
          'key',
        )
    } else if (fields === undefined)
      report([], `"${ask.id}" is decided field by field, and "fields" is missing`, 'without it the rule would hold for every field')
    else
      for (const [i, field] of fields.entries()) {
        if (fields.indexOf(field) < i) report(['fields', i], `field "${field}" stands twice`)
        if (!ask.fields.includes(field))
          report(
            ['fields', i],
            `unknown field "${field}"`,
            field.includes('*') ? 'list the fields: patterns are refused' : didYouMean(field, ask.fields),
          )
      }
  }
}
