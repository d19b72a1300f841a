import type { Conjunction } from './conjunctions.ts'
import type { Coverage } from './coverage.ts'
import type { Check } from './decided-space.ts'
import { undeclared, type ChangeKind, type DefinitionChange, type PolicyChange, type PolicyDiff } from './decision-diff.ts'
import type { Answer } from './enumerate.ts'
import { markdownTable } from './matrix.ts'
import { readSource, type Path, type SourceFile } from './source.ts'
import type { TextChange } from './text-diff.ts'
import { DEFINE } from './vocabulary.ts'
import type { Widening } from './widenings.ts'

/** How parts of a text are coloured. */
export type Paint = (text: string) => string

const answers: Readonly<Record<Answer, string>> = {
  allowed: 'allowed',
  insufficient_scope: '403 insufficient_scope',
  forbidden: '403 forbidden',
  not_found: '404 not_found',
  absent: 'unknown to the policy',
}
const signs: Readonly<Record<ChangeKind, string>> = { widening: '+', narrowing: '-', response: '~' }

/** The difference as text, like a plan that can be pasted into a review. */
export function renderDiffText(diff: PolicyDiff, { red, green, dim }: Readonly<Record<'red' | 'green' | 'dim', Paint>>): string {
  const paint: Readonly<Record<ChangeKind, Paint>> = { widening: green, narrowing: red, response: (text) => text }
  const changes = describeChanges(diff.changes).flatMap(({ kind, headline, declared, example }) => [
    paint[kind](`${signs[kind]} ${headline}`),
    ...(declared === undefined ? [] : [`    declared by its author: ${declared}`]),
    dim(`    ${example}`),
  ])
  const edits = diff.edits.map((edit) => `  ${describeEdit(edit)}`)
  return [
    `policy ${diff.from.slice(0, 12)} → ${diff.to.slice(0, 12)}`,
    ...diff.definitions.map((change) => (change.now ? green : red)(`${change.now ? '+' : '-'} ${describeDefinition(change)}`)),
    ...changes,
    ...(edits.length === 0 ? [] : ['edited:', ...edits]),
    ...diff.unused.map(({ permission, reason }) => `unused: the declared widening of "${permission}" (${reason}) declares nothing`),
    ...diff.declaredBefore.map(describeEarlier),
    summary(diff),
    ...renderDeclarations(diff),
  ].join('\n')
}

/** The difference as Markdown, for a comment on a proposed change. */
export function renderDiffMarkdown(diff: PolicyDiff): string {
  const titles: Readonly<Record<ChangeKind, string>> = { widening: 'Allows more', narrowing: 'Allows less', response: 'Other responses' }
  const sections = (Object.keys(titles) as ChangeKind[]).flatMap((kind) => {
    const ofKind = describeChanges(diff.changes.filter((change) => change.kind === kind))
    if (ofKind.length === 0) return []
    const rows = ofKind.map(({ permissions, when, before, after, example, declared }) => [
      permissions.map(({ permission, row }) => `\`${permission}\` [${row}]`).join(', '),
      when,
      `${before} → ${after}`,
      example,
      ...(kind === 'widening' ? [declared ?? '**not declared**'] : []),
    ])
    const head = ['permission', 'when', 'answer', 'example', ...(kind === 'widening' ? ['declared by its author'] : [])]
    return ['', `### ${titles[kind]}`, '', ...markdownTable(head, rows)]
  })
  const edits = diff.edits.map((edit) => `- ${describeEdit(edit)}`)
  return [
    '## Policy changes',
    '',
    `\`${diff.from.slice(0, 12)}\` → \`${diff.to.slice(0, 12)}\`: ${summary(diff)}.`,
    ...(diff.definitions.length === 0 ? [] : ['', ...diff.definitions.map((change) => `- ${describeDefinition(change)}`)]),
    ...sections,
    ...(edits.length === 0 ? [] : ['', '### Edited', '', ...edits]),
    ...(undeclared(diff).length === 0 ? [] : ['', '```yaml', ...renderDeclarations(diff), '```']),
  ].join('\n')
}

/** The difference as one line of JSON. */
export function renderDiffJson(diff: PolicyDiff): string {
  const toObject = (_name: string, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value)
  return JSON.stringify({ ...diff, undeclared: undeclared(diff).length }, toObject)
}

/** A widening that the new policy does not declare, as one line. */
export function describeUndeclared(change: PolicyChange | DefinitionChange): string {
  return 'name' in change ? describeDefinition(change) : describeChanges([change])[0]!.headline
}

/** Changes of several permissions that are the same otherwise, in words. */
export interface DescribedChanges extends Pick<PolicyChange, 'kind' | 'declared'> {
  readonly permissions: readonly PolicyChange[]
  readonly when: string
  readonly before: string
  readonly after: string
  readonly headline: string
  readonly example: string
}

/** Describes changes. Changes that differ only in the permission are shown together. */
export function describeChanges(changes: readonly PolicyChange[]): DescribedChanges[] {
  const groups = new Map<string, [PolicyChange, ...PolicyChange[]]>()
  for (const change of changes) {
    const { kind, before, after, declared } = change
    const key = JSON.stringify([kind, before, after, declared, whenOf(change)])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [change])
    else group.push(change)
  }
  return [...groups.values()].map((permissions) => {
    const [change] = permissions
    const { kind, declared } = change
    const [before, after] = [answers[change.before], answers[change.after]]
    const when = whenOf(change)
    return { kind, permissions, when, before, after, declared, headline: headlineOf(permissions, when), example: exampleOf(permissions) }
  })
}

function headlineOf(group: readonly [PolicyChange, ...PolicyChange[]], when: string): string {
  const [{ kind, before, after }] = group
  const verb = {
    widening: after === 'allowed' ? 'ALLOW' : 'REVEAL',
    narrowing: before === 'allowed' ? 'DENY' : 'HIDE',
    response: 'RESPONSE',
  }
  const now = after === 'allowed' ? '' : `${answers[after]}; `
  const permissions = group.map(({ permission, row }) => `${permission} [${row}]`).join(', ')
  return `${verb[kind]} ${permissions} when ${when} (${now}was ${answers[before]})`
}

function exampleOf(group: readonly [PolicyChange, ...PolicyChange[]]): string {
  const { operation, point } = group[0].example
  const facts = Object.entries(point).map(([name, value]) => `${name} ${value}`)
  const count = group.reduce((sum, { cells }) => sum + cells, 0)
  return `${count} ${count === 1 ? 'cell' : 'cells'}, for example ${operation.id}: ${operation.method} ${operation.path} with ${facts.join(', ')}`
}

/** The conditions of a change in words. The scope is left out if it is the one that the permission requires anyway. */
function whenOf({ when, isUsualScope, example: { point } }: PolicyChange): string {
  const [scope] = Object.keys(point)
  return describeConjunction(new Map([...when].filter(([name]) => name !== scope || !isUsualScope)))
}

/** What was edited, in words. */
export function describeEdit({ kind, what, members }: TextChange): string {
  return `${what} ${kind}${members.length === 0 ? '' : ` (${members.join(', ')})`}`
}

/** A definition that has another value, in words. */
export function describeDefinition({ name, now, when, declared }: DefinitionChange): string {
  const reason = declared === undefined ? '' : ` (declared by its author: ${declared})`
  return `DEFINE ${name} as ${now} when ${describeConjunction(when)}${reason}`
}

function describeConjunction(when: Conjunction): string {
  const terms = [...when].map(([name, values]) => {
    if (values.length > 1 || (values[0] !== 'true' && values[0] !== 'false')) return `${name} is ${values.join(' or ')}`
    return values[0] === 'true' ? name : `not ${name}`
  })
  return terms.length === 0 ? 'always' : terms.join(' and ')
}

function summary(diff: PolicyDiff): string {
  if (diff.from === diff.to) return 'the same policy'
  // Permissions are compared, so that an operation that needs another one is not compared with itself.
  const moved = diff.edits.filter(({ what, members }) => what.startsWith('operation ') && members.includes('permission'))
  const note =
    moved.length === 0 ? '' : `; ${moved.map(({ what }) => what).join(', ')}: another permission is needed, and both are not compared here`
  if (diff.changes.length === 0 && diff.definitions.length === 0)
    return moved.length === 0 ? 'no decision changes' : `no permission changes its answers${note}`
  const defined = (now: boolean) => diff.definitions.filter((change) => change.now === now).length
  const extra: Readonly<Record<ChangeKind, number>> = { widening: defined(true), narrowing: defined(false), response: 0 }
  const count = (kind: ChangeKind) => diff.changes.filter((change) => change.kind === kind).length + extra[kind]
  const missing = count('widening') === 0 ? '' : `, ${undeclared(diff).length} not declared`
  return `widenings: ${count('widening')}${missing}; narrowings: ${count('narrowing')}; other responses: ${count('response')}${note}`
}

/** A declaration that someone made before there was a change to review. */
function describeEarlier({ permission, reason }: Widening): string {
  return `not counted: the widening of "${permission}" (${reason}) was declared before this change. Declare it in the change that makes it.`
}

/** What a policy has to say in `widenings.yaml` if it widens another one on purpose. */
function renderDeclarations(diff: PolicyDiff): string[] {
  const wanted = undeclared(diff)
  if (wanted.length === 0) return []
  const declarations = wanted.flatMap((change) => [
    `  - from: "${diff.from.slice(0, 12)}"`,
    `    permission: ${'name' in change ? `${DEFINE} ${change.name}` : change.permission}`,
    `    when: { ${[...change.when].map(([name, values]) => `${name}: ${values.length === 1 ? JSON.stringify(values[0]) : JSON.stringify(values)}`).join(', ')} }`,
    '    reason: # why it is wanted',
  ])
  const others = diff.declaredForOthers.map((hash) => hash.slice(0, 12)).join(', ')
  return [
    ...(others === '' ? [] : [`# widenings.yaml has declarations about other policies (${others}). They have no effect here.`]),
    '# If they are intended, declare them in widenings.yaml of the new policy:',
    'version: 1',
    'widenings:',
    ...declarations,
  ]
}

/** The checks of a policy as TAP 14, which test runners of many languages read. */
export function renderTap(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ name, failures }, i) => [
    `${failures.length === 0 ? 'ok' : 'not ok'} ${i + 1} - ${name.replaceAll(/[#\\]/g, '\\$&')}`,
    ...(failures.length === 0 ? [] : ['  ---', '  failures:', ...failures.map((failure) => `    - ${JSON.stringify(failure)}`), '  ...']),
  ])
  return ['TAP version 14', `1..${checks.length}`, ...lines].join('\n')
}

/** The checks of a policy as JUnit XML, which CI services show. */
export function renderJunit(checks: readonly Check[]): string {
  const failed = checks.filter(({ failures }) => failures.length > 0).length
  const cases = checks.flatMap(({ name, failures }) => [
    `  <testcase classname="policy" name="${escapeXml(name)}"${failures.length === 0 ? '/>' : '>'}`,
    ...failures.map((failure) => `    <failure message="${escapeXml(failure)}"/>`),
    ...(failures.length === 0 ? [] : ['  </testcase>']),
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="policy" tests="${checks.length}" failures="${failed}">`,
    ...cases,
    '</testsuite>',
  ].join('\n')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!)
}

/**
 * Coverage in the format of LCOV: the lines of the members of a rule are hit as often as it decided, and each value of a condition is a
 * branch of its line.
 * @param tables the files of the two tables
 */
export function renderLcov(tables: readonly SourceFile[], coverage: Coverage): string {
  const counts = coverage.ruleCounts()
  const conditions = coverage.conditionCounts()
  return tables.map((table) => renderTable(table, counts, conditions)).join('')
}

function renderTable(table: SourceFile, counts: ReadonlyMap<string, number>, conditions: ReturnType<Coverage['conditionCounts']>): string {
  const source = readSource(table)
  const lineOf = (...at: Path) => source.diagnostic(at, '', { on: 'key' }).line
  const { rules } = source.data as { readonly rules: readonly { readonly id: string; readonly conditions: object }[] }
  const all = rules.map((rule, i) => {
    const count = counts.get(rule.id) ?? 0
    const members = Object.keys(rule).map((name) => lineOf('rules', i, name))
    const terms = Object.keys(rule.conditions).map((name) => lineOf('rules', i, 'conditions', name))
    const lines = [...new Set([...members, ...terms])].map((line) => `DA:${line},${count}`)
    const ofRule = conditions.filter(({ rule: id }) => id === rule.id)
    const branches = ofRule.map((branch, n) => {
      const hits = count === 0 && branch.count === 0 ? '-' : branch.count
      return `BRDA:${lineOf('rules', i, 'conditions', branch.name)},0,${n},${hits}`
    })
    return { count, functions: [`FN:${members[0]},${rule.id}`, `FNDA:${count},${rule.id}`], lines, branches, ofRule }
  })
  const hit = all.filter(({ count }) => count > 0)
  const [lines, branches] = [all.flatMap((one) => one.lines), all.flatMap((one) => one.branches)]
  return [
    'TN:',
    `SF:${table.path}`,
    ...all.flatMap(({ functions }) => functions),
    `FNF:${all.length}`,
    `FNH:${hit.length}`,
    ...branches,
    `BRF:${branches.length}`,
    `BRH:${all.flatMap(({ ofRule }) => ofRule).filter(({ count }) => count > 0).length}`,
    ...lines,
    `LF:${lines.length}`,
    `LH:${hit.flatMap((one) => one.lines).length}`,
    'end_of_record',
    '',
  ].join('\n')
}
