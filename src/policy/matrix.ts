import { acceptedValues, type Condition } from './conditions.ts'
import type { Engine } from './engine.ts'
import { covers, isDefinition, type Rule } from './rules.ts'
import { withWebApp, type PolicyOperation } from './operations.ts'
import { cells } from './enumerate.ts'

/**
 * The decisions of both tables about every operation, as Markdown (`policies/matrix.md`).
 * @param summary lines before them
 */
export function renderMatrix(engine: Engine, operations: readonly PolicyOperation[], summary: readonly string[] = []): string {
  const { vocabulary, permissionRules } = engine
  const definitions = permissionRules
    .filter(isDefinition)
    .map((rule) => [`**${rule.subject.join(', ')}**`, describeConditions(rule), rule.id, rule.reason])
  const facts = [...vocabulary.facts.values()].map(({ name, values, means }) => [name, values.join(', '), means])
  return [
    '<!-- Generated from the tables by `npm run matrix`. Do not edit. A test fails if it is out of date. -->',
    '',
    '# Who may do what',
    '',
    ...(summary.length === 0 ? [] : [...summary, '## Operations', '']),
    ...markdownTable(matrixHead, matrixRows(engine, operations)),
    '',
    '## Definitions, facts and rows',
    '',
    ...markdownTable(['definition', 'true if', 'rule', 'reason'], definitions),
    '',
    ...markdownTable(['fact', 'values', 'meaning'], facts),
    '',
    ...markdownTable(
      ['row', 'minimum scope', 'words of the specification'],
      [...vocabulary.rows].map(([id, { scopes, surface, words }]) => [id, surface === undefined ? scopes.join(', ') : 'no token', words]),
    ),
    '',
  ].join('\n')
}

/** The columns of the matrix. */
export const matrixHead: readonly string[] = [
  'operation',
  'method and path',
  'permission',
  'minimum scope',
  'allowed if',
  'row',
  '404 unless',
]

/**
 * A row for each operation, for each further permission of one, and for each action of the web app. The cells have the markup of Markdown.
 */
export function matrixRows(engine: Engine, operations: readonly PolicyOperation[]): string[][] {
  return withWebApp(engine, operations).flatMap(({ id, method, path, permission, kind, also }) => [
    [`\`${id}\``, `${method} ${path}`, ...permissionCells(engine, permission, kind)],
    ...also.map((further) => [`\`${id}\``, `each of \`${further.member}\``, ...permissionCells(engine, further.permission)]),
  ])
}

function permissionCells({ vocabulary, permissionRules, checkScope }: Engine, id: string, kind?: PolicyOperation['kind']): string[] {
  const permission = vocabulary.permissions.get(id)!
  const rules = permissionRules.filter((rule) => covers(rule, permission))
  const { required, row: scopeRow } = checkScope(permission.id, { [vocabulary.scopeOrder.name]: vocabulary.scopeOrder.values[0]! })
  return [
    permission.id,
    permission.surface === undefined ? `${required} (${scopeRow})` : 'no token',
    rules.map(describeRule).join(' **or** '),
    [...new Set(rules.map((rule) => rule.row))].join(', '),
    permission.notFoundUnless.map((name) => (kind === 'filtered_list' ? `left out unless ${name}` : name)).join(', ') || '-',
  ]
}

function describeRule(rule: Rule): string {
  return rule.fields === undefined ? describeConditions(rule) : `${rule.fields.join(', ')}: ${describeConditions(rule)}`
}

function describeConditions({ conditions }: Rule): string {
  return Object.entries(conditions)
    .map(([name, condition]) => describeCondition(name, condition))
    .join(' and ')
}

function describeCondition(name: string, condition: Condition): string {
  if (condition === true) return `**${name}**`
  return `${name} is ${acceptedValues(condition).join(' or ')}`
}

/** The lines of a Markdown table. Cells are escaped, except for Markdown markup. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

/** The columns of every list of cells that precede the facts. */
const BEFORE = ['permission', 'field'] as const
const AFTER = ['minimum scope', 'response', 'row', 'rules'] as const
const responses = { allowed: 'ok', forbidden: '403', not_found: '404' } as const

/** Every cell of the permission table with its answer, as a table. A fact that does not decide a permission is empty. */
export function listCells(engine: Engine): { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const { vocabulary, decide, checkScope } = engine
  const { name, values } = vocabulary.scopeOrder
  const facts = [...vocabulary.facts.keys()].filter((fact) => fact !== name)
  const scopes = new Map([...vocabulary.permissions.keys()].map((id) => [id, checkScope(id, { [name]: values[0]! }).required]))
  const rows = [...cells(vocabulary)].map(({ permission: { id }, facts: present, field, fields }) => {
    const { outcome, row, rules } = decide(id, present, fields)
    return [id, field ?? '', ...facts.map((fact) => present[fact] ?? ''), scopes.get(id)!, responses[outcome], row, rules.join(' ')]
  })
  return { head: [...BEFORE, ...facts, ...AFTER], rows }
}
