import { describe, expect, test } from 'vitest'
import { describeSet } from '../../src/policy/conjunctions.ts'
import { diffPolicies, undeclared, type PolicyDiff } from '../../src/policy/decision-diff.ts'
import { renderDiffText } from '../../src/policy/result-formats.ts'
import type { Engine } from '../../src/policy/engine.ts'
import { readSource } from '../../src/policy/source.ts'
import { readWidenings } from '../../src/policy/widenings.ts'
import { loadMutant, mutants } from '../support/mutants.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'
import { sample, sampledEffort } from '../support/sample.ts'

type Values = Record<string, string>
const same = (text: string) => text
const plain = { red: same, green: same, dim: same }

/** Every combination of values of the facts of both policies in some groups. Written again for this test. */
function combinations(engines: readonly Engine[], isGroup: (group: string) => boolean, fields: readonly string[] = []): Values[] {
  const values: Record<string, Set<string>> = {}
  for (const { vocabulary } of engines)
    for (const { name, group, values: ofFact } of vocabulary.facts.values())
      if (isGroup(group)) for (const value of ofFact) (values[name] ??= new Set()).add(value)
  if (fields.length > 0) values['field'] = new Set(fields)
  let all: Values[] = [{}]
  for (const [name, ofName] of Object.entries(values)) all = all.flatMap((one) => [...ofName].map((value) => ({ ...one, [name]: value })))
  return all
}

/** Every combination of facts, scope and field of a permission. */
function points(before: Engine, after: Engine, id: string): Values[] {
  const known = [before, after].filter(({ vocabulary }) => vocabulary.permissions.has(id))
  const permissions = known.map(({ vocabulary }) => vocabulary.permissions.get(id)!)
  const groups = new Set(['token', ...permissions.flatMap((permission) => permission.groups)])
  const all = combinations(
    known,
    (group) => groups.has(group),
    permissions.flatMap(({ fields }) => fields ?? []),
  )
  const scopes = new Set(permissions.flatMap(({ surface }) => (surface === undefined ? before.vocabulary.scopeOrder.values : ['web_app'])))
  const withoutScope = all.filter((values) => values['token.scope'] === 'none')
  return withoutScope.flatMap((values) => [...scopes].map((scope) => ({ ...values, 'token.scope': scope })))
}

function isTrue({ vocabulary, holds: evaluate }: Engine, name: string, values: Values): boolean {
  const { groups } = vocabulary.definitions.get(name)!
  const isKnown = [...vocabulary.facts.values()].every((fact) => !groups.includes(fact.group) || fact.values.includes(values[fact.name]!))
  return isKnown && evaluate(name, values)
}

/** What a policy answers. Written again for this test. */
function answer({ vocabulary, checkScope, decide }: Engine, id: string, values: Values): string {
  const permission = vocabulary.permissions.get(id)
  if (permission === undefined) return 'absent'
  for (const { name, group, values: known } of vocabulary.facts.values())
    if ((group === 'token' ? permission.surface === undefined : permission.groups.includes(group)) && !known.includes(values[name]!))
      return 'absent'
  if (permission.surface !== undefined && values['token.scope'] !== 'web_app') return 'absent'
  if (permission.fields !== undefined && !permission.fields.includes(values['field']!)) return 'absent'
  if (permission.surface === undefined && !checkScope(id, values).allowed) return 'insufficient_scope'
  return decide(id, values, permission.fields === undefined ? undefined : [values['field']!]).outcome
}

const DENIED = new Set(['forbidden', 'insufficient_scope', 'not_found'])
function kindOf(before: string, after: string): string | undefined {
  if (before === after) return undefined
  if (after === 'allowed' || (before === 'not_found' && after === 'forbidden')) return 'widening'
  if (before === 'allowed' || (before === 'forbidden' && after === 'not_found')) return 'narrowing'
  return DENIED.has(before) && DENIED.has(after) ? 'response' : undefined
}

/** Whether the terms of a change hold. Definitions are looked up in the new policy: both define them alike. */
function holds(after: Engine, when: ReadonlyMap<string, readonly string[]>, values: Values): boolean {
  return [...when].every(([name, accepted]) =>
    accepted.includes(after.vocabulary.definitions.has(name) ? String(after.holds(name, values)) : values[name]!),
  )
}

/** What is wrong with a difference, found by asking both policies in every point. */
function errorsOf(diff: PolicyDiff, before: Engine, after: Engine): string[] {
  const errors: string[] = []
  const counts = new Map(diff.changes.map((change) => [change, 0]))
  for (const id of new Set([...before.vocabulary.permissions.keys(), ...after.vocabulary.permissions.keys()])) {
    const ofPermission = diff.changes.filter(({ permission }) => permission === id)
    for (const values of points(before, after, id)) {
      const [a, b] = [answer(before, id, values), answer(after, id, values)]
      const found = ofPermission.filter(({ when }) => holds(after, when, values))
      for (const change of found) counts.set(change, counts.get(change)! + 1)
      if (found.some((change) => change.before !== a || change.after !== b)) errors.push(`${id} ${JSON.stringify(values)} is ${a} → ${b}`)
      if (found.some(({ kind }) => kind !== kindOf(a, b))) errors.push(`${id} ${JSON.stringify(values)} is of another kind`)
      if (found.length === 0 && kindOf(a, b) !== undefined) errors.push(`${id} ${JSON.stringify(values)} is missing`)
    }
  }
  for (const name of after.vocabulary.definitions.keys()) {
    if (!before.vocabulary.definitions.has(name)) continue
    const groups = new Set([before, after].flatMap(({ vocabulary }) => vocabulary.definitions.get(name)!.groups))
    for (const values of combinations([before, after], (group) => groups.has(group))) {
      const [was, is] = [isTrue(before, name, values), isTrue(after, name, values)]
      const found = diff.definitions.filter((change) => change.name === name && holds(after, change.when, values))
      if (found.some(({ now }) => now !== is) || found.length > 0 !== (was !== is))
        errors.push(`${name} ${JSON.stringify(values)} is ${was} → ${is}`)
    }
  }
  for (const [{ permission, cells: stated }, count] of counts)
    if (stated !== count) errors.push(`${permission} counts ${stated}, not ${count}`)
  return errors
}

/** A policy with edits of its files. */
function edited(...edits: readonly (readonly [file: keyof typeof shippedFiles, from: string, to: string])[]): Engine {
  const files = { ...shippedFiles }
  for (const [file, from, to] of edits) {
    if (!files[file].text.includes(from)) throw new Error(`${file} does not contain "${from}"`)
    files[file] = { ...files[file], text: files[file].text.replaceAll(from, () => to) }
  }
  return load(files)
}

const vocabularies: readonly (readonly [what: string, Engine])[] = [
  [
    'a value of a fact is added',
    edited(
      ['vocabulary', 'values: [owner, admin, member]', 'values: [owner, admin, member, guest]'],
      ['cases', '    member: { caller.role: member }', '    member: { caller.role: [member, guest] }'],
    ),
  ],
  [
    'a value of a fact is removed',
    edited(
      ['vocabulary', 'values: [owner, admin, member]', 'values: [owner, member]'],
      ['permissions', 'caller.role: { $in: [owner, admin] }', 'caller.role: owner'],
      ['cases', '    admin: { caller.role: admin }\n', ''],
      ['cases', 'down: board\n    across: role\n    #                   owner admin member\n', 'down: board\n    across: role\n'],
      ['cases', '[ok,   ok,   ok]', '[ok, ok]'],
      ['cases', '[ok,   ok,   403]', '[ok, 403]'],
      ['cases', '[404,  404,  404]', '[404, 404]'],
      ['cases', '    admin: ok\n', ''],
    ),
  ],
  [
    'what only the web app could do is given to tokens',
    edited(
      ['vocabulary', '      change: [TokenRules]\n', '\n  - groups: [caller]\n    actions:\n      change: [TokenRules]\n'],
      ['specification', 'X8: { surface: web_app,', 'X8: { scope: "kanban:admin",'],
      [
        'scopes',
        '  - id: S3.deletion\n',
        '  - id: S3.rules\n    row: S3\n    action: change\n    subject: TokenRules\n    conditions: { token.scope: "kanban:admin" }\n    reason: because\n\n  - id: S3.deletion\n',
      ],
      ['operations', '  workspace.token_rules:   [X8, change TokenRules,  officer]\n', ''],
      ['operations', 'web_app:\n', '  rules.change: [PUT, /rules, admin, X8, change TokenRules, officer]\nweb_app:\n'],
    ),
  ],
  [
    'a permission is renamed',
    edited(
      ['vocabulary', '      rename: [Column]', '      relabel: [Column]'],
      ['permissions', '[create, rename, move, archive]', '[create, relabel, move, archive]'],
      ['scopes', '[create, rename, move, archive, restore]', '[create, relabel, move, archive, restore]'],
      ['operations', 'rename Column,', 'relabel Column,'],
    ),
  ],
]

describe('the difference between two policies', () => {
  const all = [...mutants(shippedFiles, shipped.vocabulary)]
  const [scopes, permissions] = (['scopes', 'permissions'] as const).map((table) => all.filter((mutant) => mutant.table === table))

  // Different numbers of mutants: each step takes another pair.
  const pairs = Array.from(
    { length: sampledEffort(8, 1) },
    (_, i) => [scopes![(i * 37) % scopes!.length]!, permissions![(i * 61) % permissions!.length]!] as const,
  )
  test.each(pairs.map(([a, b]) => [`${a.name}; ${b.name}`, a, b] as const))('it is exact for mutants of both tables: %s', (_name, a, b) => {
    const scopeMutant = loadMutant(a, shipped)
    const mutant = loadMutant(b, scopeMutant ?? shipped) ?? scopeMutant
    if (mutant === undefined) return
    expect(errorsOf(diffPolicies(shipped, mutant), shipped, mutant)).toEqual([])
    expect(errorsOf(diffPolicies(mutant, shipped), mutant, shipped)).toEqual([])
  })

  test.each(sample(vocabularies, 2))('it is exact if %s', (_what, other) => {
    const [there, back] = [diffPolicies(shipped, other), diffPolicies(other, shipped)]
    expect(there.changes.length + back.changes.length).toBeGreaterThan(0)
    expect([errorsOf(there, shipped, other), errorsOf(back, other, shipped)]).toEqual([[], []])
  })
})

const admins = edited([
  'permissions',
  '  - id: P14\n',
  '  - id: P14.role\n    row: P14\n    action: delete\n    subject: Comment\n    conditions: { board.access: true, caller.role: admin }\n    reason: because\n\n  - id: P14\n',
])

test('a definition that is true in more cells is a widening, though no permission asks for it there', () => {
  // Lists of people and cascades ask for `user.belongs`. The permission asks for another definition, which is as strict as before.
  const wide = edited(
    ['vocabulary', '  user.belongs:\n', '  user.known:\n    groups: [board, user]\n    means: as before\n  user.belongs:\n'],
    [
      'vocabulary',
      'not_found_unless: [board.access, user.belongs]',
      'not_found_unless: [board.access, user.known]\n    forbidden_unless: [user.belongs]',
    ],
    ['permissions', 'subject: user.belongs\n', 'subject: user.known\n'],
    ['permissions', 'conditions: { board.access: true, user.belongs: true }', 'conditions: { board.access: true, user.known: true }'],
    [
      'permissions',
      '  - id: D3.label\n',
      '  - id: D3.wide\n    row: D3\n    action: define\n    subject: user.belongs\n    conditions: { user.member: true }\n    reason: because\n\n  - id: D3.label\n',
    ],
  )
  const diff = diffPolicies(shipped, wide)
  expect(diff.changes.filter(({ kind }) => kind === 'widening')).toEqual([])
  expect(undeclared(diff)).toMatchObject([{ name: 'user.belongs', now: true }])
  expect(errorsOf(diff, shipped, wide)).toEqual([])
  const from = shipped.hash.slice(0, 12)
  const text = `version: 1\nwidenings:\n  - { from: "${from}", permission: define user.belongs, when: {}, reason: wanted }\n`
  const declared = diffPolicies(shipped, wide, readWidenings(readSource({ path: 'widenings.yaml', text }), wide.vocabulary))
  expect([undeclared(declared), declared.unused, declared.definitions[0]!.declared]).toEqual([[], [], 'wanted'])
})

describe('a widening', () => {
  const declare = (text: string) =>
    readWidenings(readSource({ path: 'widenings.yaml', text: `version: 1\nwidenings:\n${text}` }), admins.vocabulary)
  const from = shipped.hash.slice(0, 12)

  test('a declaration counts only in the change that adds it: no earlier change can prepare a later one', () => {
    const declared = declare(`  - { from: "${from}", permission: delete Comment, when: {}, reason: wanted }`)
    expect(undeclared(diffPolicies(shipped, admins, declared))).toEqual([])
    const prepared = diffPolicies(shipped, admins, declared, declared)
    expect([undeclared(prepared).length, prepared.declaredBefore]).toEqual([1, declared])
    expect(renderDiffText(prepared, plain)).toContain(
      'not counted: the widening of "delete Comment" (wanted) was declared before this change',
    )
  })

  test('it has only values that occur in what has changed', () => {
    const values = ['creator', 'member', 'none']
    const all = values.map((caller) => ({ caller, access: String(caller !== 'none') }))
    const terms = { dimensions: [{ name: 'caller', values }], definitions: ['access'] }
    // "none", for which there is no access, would be as exact, and would read as if it were among them.
    expect(describeSet(all, ({ caller }) => caller === 'member', terms)).toEqual([
      new Map([
        ['caller', ['member']],
        ['access', ['true']],
      ]),
    ])
  })

  test.each([
    ['permission: delete Coment, when: {}', 'unknown permission "delete Coment"'],
    ['permission: delete Comment, when: { caller.rol: admin }', 'unknown fact "caller.rol"'],
    ['permission: delete Comment, when: { caller.role: admn }', '"admn" is not a value of caller.role'],
    ['permission: delete Comment, when: { board.access: maybe }', '"maybe" is not a value of board.access'],
  ])('a declaration with %s is refused', (members, message) => {
    expect(() => declare(`  - { from: "${from}", ${members}, reason: wanted }`)).toThrow(message)
  })
})
