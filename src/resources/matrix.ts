import type { Condition } from '../policy/conditions.ts'
import type { Engine } from '../policy/engine.ts'
import type { Rule } from '../policy/rules.ts'
import type { Operation } from './operation.ts'

/** An operation, as the matrix shows it. */
export interface MatrixRow {
  readonly id: string
  readonly method: string
  readonly path: string
  /** `action Subject` */
  readonly permission: string
  /** each: a list, decided item by item */
  readonly kind: 'single' | 'each'
}

/** A row of the operations table, as the matrix shows it. */
export function toMatrixRow({ id, method, path, needs, kind }: Operation): MatrixRow {
  return { id, method, path, permission: needs.join(' '), kind }
}

/** What both tables say of every operation, as Markdown: generated, so that it cannot say anything else. */
export function renderMatrix(engine: Engine, operations: readonly MatrixRow[]): string {
  const { vocabulary, permissionRules } = engine
  const rows = operations.map(({ id, method, path, permission: permission, kind }) => {
    const ask = vocabulary.permissions.get(permission)!
    const rules = permissionRules.filter((rule) => rule.action.includes(ask.action) && rule.subject.includes(ask.subject))
    const { required, row: scopeRow } = engine.checkScope(permission, { [vocabulary.scopeOrder.name]: vocabulary.scopeOrder.values[0]! })
    return [
      `\`${id}\``,
      `${method} ${path}`,
      permission,
      `${required} (${scopeRow})`,
      rules.map(allowing).join(' **or** '),
      [...new Set(rules.map((rule) => rule.row))].join(', '),
      ask.notFoundUnless.map((name) => (kind === 'each' ? `left out unless ${name}` : name)).join(', ') || '-',
    ]
  })
  const definitions = permissionRules
    .filter((rule) => rule.row.startsWith('D'))
    .map((rule) => [`**${rule.subject.join(', ')}**`, condition(rule), rule.id, rule.reason])
  return [
    '<!-- Generated from the two tables by `npm run matrix`. Do not edit: a stale copy is a red test. -->',
    '',
    '# Who may do what',
    '',
    ...table(['operation', 'request', 'asked', 'least scope', 'allowed where', 'row', '404 unless'], rows),
    '',
    '## What the words mean',
    '',
    ...table(['word', 'holds where', 'rule', 'because'], definitions),
    '',
    ...table(
      ['fact', 'values', 'read from'],
      [...vocabulary.facts.values()].map(({ name, values, means }) => [name, values.join(', '), means]),
    ),
    '',
    ...table(
      ['row', 'the specification says'],
      [...vocabulary.rows].map(([row, words]) => [row, words]),
    ),
    '',
  ].join('\n')
}

function allowing(rule: Rule): string {
  return rule.fields === undefined ? condition(rule) : `${rule.fields.join(', ')}: ${condition(rule)}`
}

function condition({ conditions }: Rule): string {
  return Object.entries(conditions)
    .map(([fact, value]) => describe(fact, value))
    .join(' and ')
}

function describe(fact: string, value: Condition): string {
  if (value === true) return `**${fact}**`
  return typeof value === 'string' ? `${fact} is ${value}` : `${fact} is ${value.$in.join(' or ')}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}
