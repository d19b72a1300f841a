import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeSet } from '../../src/policy/conjunctions.ts'
import { diffPolicies, undeclared, type DefinitionChange, type PolicyChange, type PolicyDiff } from '../../src/policy/decision-diff.ts'
import type { Engine, PolicyFile } from '../../src/policy/engine.ts'
import { renderDiffText } from '../../src/policy/result-formats.ts'
import { readSource } from '../../src/policy/source.ts'
import { readWidenings, type Widening } from '../../src/policy/widenings.ts'
import { loadMutant, mutants } from '../support/mutants.ts'
import { shipped, shippedFiles } from '../support/policy.ts'
import { sampledEffort } from '../support/sample.ts'
import { small, type Edit } from '../support/small-policy.ts'

type Values = Record<string, string>

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

const { edits, changes } = parse(readFileSync(new URL('../../fixtures/small-policy-changes.yaml', import.meta.url), 'utf8')) as {
  readonly edits: Readonly<Record<string, readonly { in: PolicyFile; from: string; to: string }[]>>
  readonly changes: readonly { what: string; before: string[]; after: string[]; lines?: string[] }[]
}
/** The small policy with the edits of these names. */
const edited = (...names: readonly string[]) =>
  small(...names.flatMap((name) => edits[name]!.map((one): Edit => [one.in, one.from, one.to])))

const termsOf = (when: PolicyChange['when']) => [...when].map(([name, values]) => `${name} ${values.join('|')}`).join(', ') || 'always'

/** What a change says of points, in one line. */
function lineOf({ kind, permission, before, after, when, isUsualScope, cells, example, declared }: PolicyChange): string {
  const scope = isUsualScope ? ' (usual scope)' : ''
  const points = `${cells} as ${Object.values(example.point).join(' ')}`
  return `${kind} ${permission}: ${before} → ${after}; ${termsOf(when)}${scope}; ${points}${declared ? `; ${declared}` : ''}`
}

const definitionLine = ({ name, now, when, declared }: DefinitionChange) =>
  `${name} ${now}; ${termsOf(when)}${declared ? `; ${declared}` : ''}`

/** The changes of answers and of definitions. */
const linesOf = ({ changes, definitions }: PolicyDiff) => [...definitions.map(definitionLine), ...changes.map(lineOf)]

describe('the changes between two small policies', () => {
  test.each(changes)('$what', ({ before, after, lines }) => {
    const [old, other] = [edited(...before), edited(...after)]
    const diff = diffPolicies(old, other)
    if (lines !== undefined) expect(linesOf(diff)).toEqual(lines)
    expect([errorsOf(diff, old, other), errorsOf(diffPolicies(other, old), other, old)]).toEqual([[], []])
  })

  test.each([
    [[], ['anyAuthor'], 'P2 comments.update PATCH /comments'],
    [[], ['tokensRead'], 'X1 log.get GET /log'],
    [['tokensRead'], [], 'X1 log.read web app'],
    [['views'], [], 'P1 comments.read GET /comments, P1 boards.view GET /view'],
  ])('each change has a row and an operation (%#)', (before, after, expected) => {
    const diff = diffPolicies(edited(...before), edited(...after))
    const found = diff.changes.map(({ row, example: { operation } }) => `${row} ${operation.id} ${operation.method} ${operation.path}`)
    expect([...new Set(found)].join(', ')).toBe(expected)
  })
})

describe('the difference between the shipped policy and others', () => {
  const all = [...mutants(shippedFiles, shipped.vocabulary)]
  const [scopes, permissions] = (['scopes', 'permissions'] as const).map((table) => all.filter((mutant) => mutant.table === table))

  // Different numbers of mutants: each step takes another pair.
  const pairs = Array.from(
    { length: sampledEffort(8, 1) },
    (_, i) => [scopes![(i * 37) % scopes!.length]!, permissions![(i * 61) % permissions!.length]!] as const,
  )
  test.each(pairs.map(([a, b]) => [`${a.name}; ${b.name}`, a, b] as const))('is exact for mutants of both tables: %s', (_name, a, b) => {
    const scopeMutant = loadMutant(a, shipped)
    const mutant = loadMutant(b, scopeMutant ?? shipped) ?? scopeMutant
    if (mutant === undefined) return
    expect(errorsOf(diffPolicies(shipped, mutant), shipped, mutant)).toEqual([])
    expect(errorsOf(diffPolicies(mutant, shipped), mutant, shipped)).toEqual([])
  })
})

describe('the declarations of widenings', () => {
  const declare = (before: Engine, permission: string, when: Record<string, string[]>, reason: string): Widening => ({
    from: before.hash.slice(0, 12),
    permission,
    when: new Map(Object.entries(when)),
    reason,
  })

  test('between a policy and itself there is nothing to declare', () => {
    const { hash } = small()
    const nothing = { definitions: [], changes: [], edits: [], unused: [], declaredBefore: [], declaredForOthers: [] }
    expect(diffPolicies(small(), small())).toEqual({ from: hash, to: hash, ...nothing })
  })

  test('a declaration counts for its points only, and only in the change of the policy that it names, which adds it', () => {
    const [before, after] = [small(), edited('anyAuthor')]
    const owners = declare(before, 'update Comment', { 'caller.role': ['owner'] }, 'owners may')
    const wrongPoints = declare(
      before,
      'update Comment',
      { 'caller.role': ['owner'], 'comment.author': ['caller'] },
      'nothing changes here',
    )
    const wrongFact = declare(before, 'update Comment', { field: ['name'] }, 'there is no such fact')
    const wrongPermission = declare(before, 'read Comment', {}, 'nothing changes here')
    const earlier = () => declare(before, 'update Comment', {}, 'declared before')
    const others = ['ffffffffffff', 'eeeeeeeeeeee', 'ffffffffffff'].map((from) => ({ ...owners, from }))
    const all = [wrongPoints, wrongFact, wrongPermission, owners, earlier(), ...others]
    const diff = diffPolicies(before, after, all, [earlier(), { ...owners, reason: 'another one' }])
    expect(diff).toMatchObject({
      unused: [wrongPoints, wrongFact, wrongPermission],
      declaredBefore: [earlier()],
      declaredForOthers: ['ffffffffffff', 'eeeeeeeeeeee'],
    })
    const same = (text: string) => text
    const text = renderDiffText(diff, { red: same, green: same, dim: same })
    expect(text).toContain('not counted: the widening of "update Comment" (declared before) was declared before this change')
    expect(diff.changes.map(lineOf)).toEqual([
      'widening update Comment: forbidden → allowed; token.scope write, comment.author other, board.control true (usual scope); 2 as write owner open other; owners may',
      'widening update Comment: forbidden → allowed; token.scope write, comment.author other, board.access true, board.control false (usual scope); 1 as write member open other',
    ])
  })

  test('a declaration of a narrowing is unused', () => {
    const [before, after] = [edited('anyAuthor'), small()]
    const declaration = declare(before, 'update Comment', {}, 'wanted')
    const diff = diffPolicies(before, after, [declaration])
    expect({ unused: diff.unused, declared: diff.changes.map(({ declared }) => declared) }).toEqual({
      unused: [declaration],
      declared: [undefined, undefined],
    })
  })

  test('a declaration of a definition counts if it is about all points where the definition is true now', () => {
    const [before, after] = [edited('guests', 'noneOpen'), edited('guests')]
    const part = declare(before, 'define board.access', { 'caller.role': ['member'] }, 'a part')
    const ofAnother = declare(before, 'define board.control', {}, 'another one')
    const whole = declare(before, 'define board.access', { 'caller.role': ['member', 'guest'], 'board.visibility': ['open'] }, 'the whole')
    const declared = diffPolicies(before, after, [part, ofAnother, whole])
    expect({ definitions: declared.definitions.map(definitionLine), unused: declared.unused }).toEqual({
      definitions: ['board.access true; caller.role member|guest, board.visibility open; the whole'],
      unused: [part, ofAnother],
    })
    const back = { ...whole, from: after.hash.slice(0, 12) }
    const narrower = diffPolicies(after, before, [back])
    expect({ definitions: narrower.definitions.map(definitionLine), unused: narrower.unused }).toEqual({
      definitions: ['board.access false; caller.role member|guest, board.visibility open'],
      unused: [back],
    })
  })

  test('a definition that is true in more cells is a widening, though no permission asks for it there', () => {
    const [before, after] = [edited('added'), edited('added', 'more')]
    const diff = diffPolicies(before, after)
    expect({ changes: diff.changes, undeclared: undeclared(diff) }).toMatchObject({
      changes: [],
      undeclared: [{ name: 'board.more', now: true }],
    })
    const declared = diffPolicies(before, after, [declare(before, 'define board.more', {}, 'wanted')])
    expect({ undeclared: undeclared(declared), unused: declared.unused, declared: declared.definitions[0]!.declared }).toEqual({
      undeclared: [],
      unused: [],
      declared: 'wanted',
    })
  })

  test.each([
    ['permission: update Coment, when: {}', 'unknown permission "update Coment"'],
    ['permission: update Comment, when: { caller.rol: owner }', 'unknown fact "caller.rol"'],
    ['permission: update Comment, when: { caller.role: ownr }', '"ownr" is not a value of caller.role'],
    ['permission: update Comment, when: { board.access: maybe }', '"maybe" is not a value of board.access'],
  ])('a declaration with %s is refused', (members, message) => {
    const text = `version: 1\nwidenings:\n  - { from: "${'0'.repeat(12)}", ${members}, reason: wanted }`
    expect(() => readWidenings(readSource({ path: 'widenings.yaml', text }), small().vocabulary)).toThrow(message)
  })

  test('a widening without a declaration is undeclared, be it of a permission or of a definition', () => {
    const definitions = [true, false].flatMap((now) => [undefined, 'wanted'].map((declared) => ({ now, declared }) as DefinitionChange))
    const kinds = ['widening', 'narrowing', 'response'] as const
    const changes = kinds.flatMap((kind) => [undefined, 'wanted'].map((declared) => ({ kind, declared }) as PolicyChange))
    const found = undeclared({ ...diffPolicies(small(), small()), definitions, changes })
    expect(found).toEqual([
      { now: true, declared: undefined },
      { kind: 'widening', declared: undefined },
    ])
  })
})

test('a permission with too many points is not compared', () => {
  const engine = small()
  const permissions = new Map(engine.vocabulary.permissions)
  const [role] = permissions.get('read Log')!.facts
  permissions.set('read Log', {
    ...permissions.get('read Log')!,
    facts: [{ ...role!, values: Array.from({ length: 200_001 }, (_, i) => `${i}`) }],
  })
  const large = { ...engine, vocabulary: { ...engine.vocabulary, permissions } }
  expect(() => diffPolicies(large, large)).toThrow(
    expect.objectContaining({
      name: 'TooDifferent',
      message: 'the policies cannot be compared: "read Log" has 200001 points with the facts of both',
    }),
  )
})

test('a widening has only values that occur in the changed points', () => {
  const values = ['creator', 'member', 'none']
  const all = values.map((caller) => ({ caller, access: String(caller !== 'none') }))
  const terms = { dimensions: [{ name: 'caller', values }], definitions: ['access'] }
  // "none", which has no access, would be as exact, and would read as if it were among them.
  expect(describeSet(all, ({ caller }) => caller === 'member', terms)).toEqual([
    new Map([
      ['caller', ['member']],
      ['access', ['true']],
    ]),
  ])
})
