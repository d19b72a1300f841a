import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Pair } from 'yaml'
import type { Answer } from './enumerate.ts'
import type { Conjunction } from './conjunctions.ts'
import { undeclared, type ChangeKind, type DefinitionChange, type PolicyChange, type PolicyDiff } from './decision-diff.ts'
import { DEFINE } from './vocabulary.ts'
import type { Widening } from './widenings.ts'
import type { Check } from './decided-space.ts'
import type { Coverage } from './coverage.ts'
import type { SourceFile } from './source.ts'

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
  const changes = groupsOf(diff.changes).flatMap((group) => [
    paint[group[0]!.kind](`${signs[group[0]!.kind]} ${headline(group)}`),
    ...(group[0]!.declared === undefined ? [] : [`    declared by its author: ${group[0]!.declared}`]),
    dim(`    ${describeExample(group)}`),
  ])
  const edits = diff.edits.map(({ kind, what, members }) => `  ${what} ${kind}${members.length === 0 ? '' : ` (${members.join(', ')})`}`)
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
    const ofKind = groupsOf(diff.changes.filter((change) => change.kind === kind))
    if (ofKind.length === 0) return []
    const rows = ofKind.map((group) => [
      group.map(({ permission, row }) => `\`${permission}\` [${row}]`).join(', '),
      whenOf(group[0]!),
      `${answers[group[0]!.before]} → ${answers[group[0]!.after]}`,
      describeExample(group),
      ...(kind === 'widening' ? [group[0]!.declared ?? '**not declared**'] : []),
    ])
    const head = ['permission', 'when', 'answer', 'example', ...(kind === 'widening' ? ['declared by its author'] : [])]
    return ['', `### ${titles[kind]}`, '', ...[head, head.map(() => '---'), ...rows].map(markdownRow)]
  })
  const edits = diff.edits.map(({ kind, what, members }) => `- ${what} ${kind}${members.length === 0 ? '' : ` (${members.join(', ')})`}`)
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
  return 'name' in change ? describeDefinition(change) : headline([change])
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')).join(' | ')} |`
}

/** Changes of several permissions that are the same otherwise are shown together. */
function groupsOf(changes: readonly PolicyChange[]): (readonly PolicyChange[])[] {
  const groups = new Map<string, PolicyChange[]>()
  for (const change of changes) {
    const { kind, before, after, declared } = change
    const key = JSON.stringify([kind, before, after, declared, whenOf(change)])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [change])
    else group.push(change)
  }
  return [...groups.values()]
}

function headline(group: readonly PolicyChange[]): string {
  const change = group[0]!
  const verb = {
    widening: change.after === 'allowed' ? 'ALLOW' : 'REVEAL',
    narrowing: change.before === 'allowed' ? 'DENY' : 'HIDE',
    response: 'RESPONSE',
  }
  const after = change.after === 'allowed' ? '' : `${answers[change.after]}; `
  const permissions = group.map(({ permission, row }) => `${permission} [${row}]`).join(', ')
  return `${verb[change.kind]} ${permissions} when ${whenOf(change)} (${after}was ${answers[change.before]})`
}

/** The conditions of a change in words. The scope is left out if it is the one that the permission requires anyway. */
function whenOf({ when, isUsualScope, example: { point } }: PolicyChange): string {
  const [scope] = Object.keys(point)
  return describeConjunction(new Map([...when].filter(([name]) => name !== scope || !isUsualScope)))
}

function describeDefinition({ name, now, when, declared }: DefinitionChange): string {
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

function describeExample(group: readonly PolicyChange[]): string {
  const { operation, point } = group[0]!.example
  const facts = Object.entries(point).map(([name, value]) => `${name} ${value}`)
  const count = group.reduce((sum, { cells }) => sum + cells, 0)
  return `${count} ${count === 1 ? 'cell' : 'cells'}, for example ${operation.id}: ${operation.method} ${operation.path} with ${facts.join(', ')}`
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

/** A member of a YAML map, with the lines that it takes. */
interface Member {
  readonly key: string
  readonly value: unknown
  readonly first: number
  readonly last: number
}

/**
 * Coverage in the format of LCOV: the lines of a rule are hit as often as it decided, and each value of a condition is a branch of its line.
 * @param tables the files of the two tables
 */
export function renderLcov(tables: readonly SourceFile[], coverage: Coverage): string {
  const rules = coverage.ruleCounts()
  const branches = coverage.conditionCounts()
  return tables.map((table) => renderTable(table, rules, branches)).join('')
}

function renderTable(table: SourceFile, rules: ReadonlyMap<string, number>, conditions: ReturnType<Coverage['conditionCounts']>): string {
  const functions: string[] = []
  const branches: string[] = []
  const lines: string[] = []
  let hitRules = 0
  let hitBranches = 0
  let hitLines = 0
  for (const members of rulesIn(table.text)) {
    const id = String(members.find(({ key }) => key === 'id')!.value)
    const count = rules.get(id) ?? 0
    functions.push(`FN:${members[0]!.first},${id}`, `FNDA:${count},${id}`)
    if (count > 0) hitRules++
    for (const { first, last } of members)
      for (let line = first; line <= last; line++) {
        lines.push(`DA:${line},${count}`)
        if (count > 0) hitLines++
      }
    const { value, first } = members.find(({ key }) => key === 'conditions')!
    const lineOf = value as ReadonlyMap<string, number>
    for (const [i, branch] of conditions.filter(({ rule }) => rule === id).entries()) {
      branches.push(`BRDA:${lineOf.get(branch.name) ?? first},0,${i},${count === 0 && branch.count === 0 ? '-' : branch.count}`)
      if (branch.count > 0) hitBranches++
    }
  }
  const totals = [`FNF:${functions.length / 2}`, `FNH:${hitRules}`]
  const rest = [`BRF:${branches.length}`, `BRH:${hitBranches}`, ...lines, `LF:${lines.length}`, `LH:${hitLines}`]
  return [`TN:`, `SF:${table.path}`, ...functions, ...totals, ...branches, ...rest, 'end_of_record', ''].join('\n')
}

/** The members of each rule with their lines. The value of `conditions` is the line of each condition. */
function rulesIn(text: string): Member[][] {
  const counter = new LineCounter()
  const { contents } = parseDocument(text, { lineCounter: counter })
  const lineOf = (offset: number) => counter.linePos(offset).line
  const rules = isMap(contents) ? contents.get('rules') : undefined
  return (isSeq(rules) ? rules.items : []).flatMap((rule) => (isMap(rule) ? [rule.items.map((pair) => memberOf(pair, lineOf))] : []))
}

function memberOf(pair: Pair, lineOf: (offset: number) => number): Member {
  const [start] = (pair.key as { range: [number, number] }).range
  const value = pair.value as { range: [number, number]; value?: unknown }
  const keyOf = (one: unknown) => (isPair(one) && isScalar(one.key) ? one.key : undefined)
  const conditions = isMap(pair.value)
    ? new Map(pair.value.items.flatMap((one) => [[String(keyOf(one)?.value), lineOf(keyOf(one)?.range?.[0] ?? start)] as const]))
    : value.value
  // The end of a value in several lines is after its last line break.
  const last = lineOf(Math.max(start, value.range[1] - 1))
  return { key: String(keyOf(pair)?.value), value: conditions, first: lineOf(start), last }
}
