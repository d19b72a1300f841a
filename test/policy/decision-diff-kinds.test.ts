import { describe, expect, test } from 'vitest'
import { diffPolicies, undeclared, type DefinitionChange, type PolicyChange } from '../../src/policy/decision-diff.ts'
import type { Engine } from '../../src/policy/engine.ts'
import type { Widening } from '../../src/policy/widenings.ts'
import { small, type Edit } from '../support/small-policy.ts'

const termsOf = (when: PolicyChange['when']) => [...when].map(([name, values]) => `${name} ${values.join('|')}`).join(', ') || 'always'

/** Everything that a change says, in one line. */
function lineOf({ kind, permission, row, before, after, when, isUsualScope, cells, example, declared }: PolicyChange): string {
  const { point, operation } = example
  const where = `${operation.id} ${operation.method} ${operation.path} ${Object.values(point).join(' ')}`
  const scope = isUsualScope ? ' (usual scope)' : ''
  return `${kind} ${row} ${permission}: ${before} → ${after}; ${termsOf(when)}${scope}; ${cells} as ${where}${declared ? `; ${declared}` : ''}`
}

const definitionLine = ({ name, now, when, declared }: DefinitionChange) =>
  `${name} ${now}; ${termsOf(when)}${declared ? `; ${declared}` : ''}`

/** The changes and those of definitions, from one policy to another. */
function linesOf(before: Engine, after: Engine): string[] {
  const { changes, definitions } = diffPolicies(before, after)
  return [...definitions.map(definitionLine), ...changes.map(lineOf)]
}

const anyAuthor: Edit = ['permissions', 'conditions: { board.access: true, comment.author: caller }', 'conditions: { board.access: true }']
const ownersOnly: Edit = [
  'permissions',
  'id: P1, row: P1, action: read, subject: [Board, Comment], conditions: { board.access: true }',
  'id: P1, row: P1, action: read, subject: [Board, Comment], conditions: { board.access: true, caller.role: owner }',
]
const readersUpdate: Edit = [
  'scopes',
  'id: S2.update, row: S2, action: update, subject: [Board, Comment], conditions: { token.scope: write }',
  'id: S2.update, row: S2, action: update, subject: [Board, Comment], conditions: { token.scope: { $in: ["s:read", write] } }',
]
const unhidden: Edit = [
  'vocabulary',
  'not_found_unless: [board.access], forbidden_unless: [board.control]',
  'forbidden_unless: [board.access, board.control]',
]
const tokensRead: readonly Edit[] = [
  ['vocabulary', 'groups: [caller], surface: web_app', 'groups: [caller]'],
  ['specification', 'X1: { surface: web_app,', 'X1: { scope: "s:read",'],
  ['operations', 'web_app:\n  log.read: [X1, read Log, owners]', '  log.get: [GET, /log, read, X1, read Log, owners]'],
  ['scopes', 'action: read, subject: [Board, Comment]', 'action: read, subject: [Board, Comment, Log]'],
]
const guests: readonly Edit[] = [
  ['vocabulary', 'values: [owner, member]', 'values: [owner, member, guest]'],
  ['cases', 'member: { caller.role: member } }', 'member: { caller.role: [member, guest] } }'],
  [
    'cases',
    'hidden: { board.visibility: closed, caller.role: member }',
    'hidden: { board.visibility: closed, caller.role: [member, guest] }',
  ],
]
const views: readonly Edit[] = [
  ['vocabulary', 'actions: { read: [Board] }', 'actions: { read: [Board], view: [Board] }'],
  ['scopes', 'action: read, subject: [Board, Comment]', 'action: [read, view], subject: [Board]'],
  ['permissions', 'id: P1, row: P1, action: read, subject: [Board, Comment]', 'id: P1, row: P1, action: [read, view], subject: [Board]'],
  ['operations', 'web_app:', '  boards.view: [GET, /view, read, P1, view Board, seen]\nweb_app:'],
]

const readersDelete: Edit = [
  'scopes',
  'subject: Board, conditions: { token.scope: write }',
  'subject: Board, conditions: { token.scope: { $in: ["s:read", write] } }',
]
const membersLog: Edit = [
  'permissions',
  'subject: Log, conditions: { caller.role: owner }',
  'subject: Log, conditions: { caller.role: member }',
]
const closedOnly: Edit = ['permissions', 'conditions: { board.visibility: open }', 'conditions: { board.visibility: closed }']
const added: readonly Edit[] = [
  ['vocabulary', '  board.control:', '  board.more: { groups: [board], means: more }\n  board.control:'],
  [
    'permissions',
    '  - { id: D2,',
    '  - { id: D2.more, row: D2, action: define, subject: board.more, conditions: { board.visibility: open }, reason: Open. }\n  - { id: D2,',
  ],
]

describe('the changes between two small policies', () => {
  test.each<[what: string, before: readonly Edit[], after: readonly Edit[], lines: readonly string[]]>([
    [
      'a condition is removed',
      [],
      [anyAuthor],
      [
        'widening P2 update Comment: forbidden → allowed; token.scope write, comment.author other, board.control true (usual scope); 2 as comments.update PATCH /comments write owner open other',
        'widening P2 update Comment: forbidden → allowed; token.scope write, comment.author other, board.access true (usual scope); 3 as comments.update PATCH /comments write owner open other',
      ],
    ],
    [
      'a condition is added',
      [],
      [ownersOnly],
      [
        'narrowing P1 read Board: allowed → forbidden; token.scope s:read|write, board.access true, board.control false (usual scope); 2 as boards.read GET /boards s:read member open',
        'narrowing P1 read Comment: allowed → forbidden; token.scope s:read|write, board.access true, board.control false (usual scope); 4 as comments.read GET /comments s:read member open caller',
      ],
    ],
    [
      'a scope is added',
      [],
      [readersUpdate],
      [
        'widening P2 update Board: insufficient_scope → allowed; token.scope s:read, board.control true; 4 as boards.update PATCH /boards s:read owner open visibility',
        'widening P2 update Board: insufficient_scope → allowed; token.scope s:read, field name, board.access true; 3 as boards.update PATCH /boards s:read owner open name',
        'widening P2 update Comment: insufficient_scope → allowed; token.scope s:read, comment.author caller, board.control true; 2 as comments.update PATCH /comments s:read owner open caller',
        'widening P2 update Comment: insufficient_scope → allowed; token.scope s:read, comment.author caller, board.access true; 3 as comments.update PATCH /comments s:read owner open caller',
        'response P2 update Board: insufficient_scope → forbidden; token.scope s:read, field visibility, board.access true, board.control false; 1 as boards.update PATCH /boards s:read member open visibility',
        'response P2 update Board: insufficient_scope → not_found; token.scope s:read, board.access false; 2 as boards.update PATCH /boards s:read member closed visibility',
        'response P2 update Comment: insufficient_scope → not_found; token.scope s:read, board.access false; 2 as comments.update PATCH /comments s:read member closed caller',
        'response P2 update Comment: insufficient_scope → forbidden; token.scope s:read, comment.author other, board.control true; 2 as comments.update PATCH /comments s:read owner open other',
        'response P2 update Comment: insufficient_scope → forbidden; token.scope s:read, comment.author other, board.access true; 3 as comments.update PATCH /comments s:read owner open other',
      ],
    ],
    [
      'a definition no longer hides',
      [],
      [unhidden],
      [
        'widening P2 delete Board: not_found → forbidden; token.scope write, board.access false (usual scope); 1 as boards.delete DELETE /boards write member closed',
      ],
    ],
    [
      'tokens can do what only the web app could',
      [],
      tokensRead,
      [
        'widening X1 read Log: absent → allowed; token.scope s:read|write, caller.role owner (usual scope); 2 as log.get GET /log s:read owner',
        'narrowing X1 read Log: allowed → absent; token.scope web_app, caller.role owner (usual scope); 1 as log.get GET /log web_app owner',
      ],
    ],
    [
      'only the web app can do what tokens could',
      tokensRead,
      [],
      [
        'widening X1 read Log: absent → allowed; token.scope web_app, caller.role owner (usual scope); 1 as log.read web app web_app owner',
        'narrowing X1 read Log: allowed → absent; token.scope s:read|write, caller.role owner (usual scope); 2 as log.read web app s:read owner',
      ],
    ],
    [
      'a value of a fact is added',
      [],
      guests,
      [
        'board.access true; caller.role guest, board.visibility open',
        'widening P1 read Board: absent → allowed; token.scope s:read|write, caller.role guest, board.visibility open (usual scope); 2 as boards.read GET /boards s:read guest open',
        'widening P2 update Board: absent → allowed; token.scope write, caller.role guest, board.visibility open, field name (usual scope); 1 as boards.update PATCH /boards write guest open name',
        'widening P1 read Comment: absent → allowed; token.scope s:read|write, caller.role guest, board.visibility open (usual scope); 4 as comments.read GET /comments s:read guest open caller',
        'widening P2 update Comment: absent → allowed; token.scope write, caller.role guest, board.visibility open, comment.author caller (usual scope); 1 as comments.update PATCH /comments write guest open caller',
      ],
    ],
    [
      'a permission is added, and nothing allows another one',
      [],
      views,
      [
        'widening P1 view Board: absent → allowed; token.scope s:read|write, board.visibility open (usual scope); 4 as boards.view GET /view s:read owner open',
        'widening P1 view Board: absent → allowed; token.scope s:read|write, caller.role owner (usual scope); 4 as boards.view GET /view s:read owner open',
        'narrowing P1 read Comment: allowed → insufficient_scope; token.scope s:read|write, board.control true (usual scope); 8 as comments.read GET /comments s:read owner open caller',
        'narrowing P1 read Comment: allowed → insufficient_scope; token.scope s:read|write, board.access true (usual scope); 12 as comments.read GET /comments s:read owner open caller',
        'response P1 read Comment: not_found → insufficient_scope; token.scope s:read|write, board.access false (usual scope); 4 as comments.read GET /comments s:read member closed caller',
      ],
    ],
    [
      'a scope is added to what no longer hides',
      [],
      [unhidden, readersDelete],
      [
        'widening P2 delete Board: insufficient_scope → allowed; token.scope s:read, board.control true; 2 as boards.delete DELETE /boards s:read owner open',
        'widening P2 delete Board: not_found → forbidden; token.scope write, board.access false; 1 as boards.delete DELETE /boards write member closed',
        'response P2 delete Board: insufficient_scope → forbidden; token.scope s:read, board.control false; 2 as boards.delete DELETE /boards s:read member open',
      ],
    ],
    [
      'the web app allows something to others',
      [],
      [membersLog],
      [
        'widening X1 read Log: forbidden → allowed; caller.role member; 1 as log.read web app web_app member',
        'narrowing X1 read Log: allowed → forbidden; caller.role owner; 1 as log.read web app web_app owner',
      ],
    ],
    [
      'a definition has another condition',
      [],
      [closedOnly],
      [
        'board.access true; caller.role member, board.visibility closed',
        'board.access false; caller.role member, board.visibility open',
        'widening P1 read Board: not_found → allowed; token.scope s:read|write, caller.role member, board.visibility closed (usual scope); 2 as boards.read GET /boards s:read member closed',
        'widening P2 update Board: not_found → forbidden; token.scope write, caller.role member, board.visibility closed, field visibility (usual scope); 1 as boards.update PATCH /boards write member closed visibility',
        'widening P2 update Board: not_found → allowed; token.scope write, caller.role member, board.visibility closed, field name (usual scope); 1 as boards.update PATCH /boards write member closed name',
        'widening P2 delete Board: not_found → forbidden; token.scope write, caller.role member, board.visibility closed (usual scope); 1 as boards.delete DELETE /boards write member closed',
        'widening P1 read Comment: not_found → allowed; token.scope s:read|write, caller.role member, board.visibility closed (usual scope); 4 as comments.read GET /comments s:read member closed caller',
        'widening P2 update Comment: not_found → allowed; token.scope write, caller.role member, board.visibility closed, comment.author caller (usual scope); 1 as comments.update PATCH /comments write member closed caller',
        'widening P2 update Comment: not_found → forbidden; token.scope write, caller.role member, board.visibility closed, comment.author other (usual scope); 1 as comments.update PATCH /comments write member closed other',
        'narrowing P1 read Board: allowed → not_found; token.scope s:read|write, caller.role member, board.visibility open (usual scope); 2 as boards.read GET /boards s:read member open',
        'narrowing P2 update Board: forbidden → not_found; token.scope write, caller.role member, board.visibility open, field visibility (usual scope); 1 as boards.update PATCH /boards write member open visibility',
        'narrowing P2 update Board: allowed → not_found; token.scope write, caller.role member, board.visibility open, field name (usual scope); 1 as boards.update PATCH /boards write member open name',
        'narrowing P2 delete Board: forbidden → not_found; token.scope write, caller.role member, board.visibility open (usual scope); 1 as boards.delete DELETE /boards write member open',
        'narrowing P1 read Comment: allowed → not_found; token.scope s:read|write, caller.role member, board.visibility open (usual scope); 4 as comments.read GET /comments s:read member open caller',
        'narrowing P2 update Comment: allowed → not_found; token.scope write, caller.role member, board.visibility open, comment.author caller (usual scope); 1 as comments.update PATCH /comments write member open caller',
        'narrowing P2 update Comment: forbidden → not_found; token.scope write, caller.role member, board.visibility open, comment.author other (usual scope); 1 as comments.update PATCH /comments write member open other',
      ],
    ],
    ['a definition is added', [], added, []],
    [
      'a scope is removed',
      [readersUpdate],
      [],
      [
        'narrowing P2 update Board: allowed → insufficient_scope; token.scope s:read, board.control true; 4 as boards.update PATCH /boards s:read owner open visibility',
        'narrowing P2 update Board: allowed → insufficient_scope; token.scope s:read, field name, board.access true; 3 as boards.update PATCH /boards s:read owner open name',
        'narrowing P2 update Comment: allowed → insufficient_scope; token.scope s:read, comment.author caller, board.control true; 2 as comments.update PATCH /comments s:read owner open caller',
        'narrowing P2 update Comment: allowed → insufficient_scope; token.scope s:read, comment.author caller, board.access true; 3 as comments.update PATCH /comments s:read owner open caller',
        'response P2 update Board: forbidden → insufficient_scope; token.scope s:read, field visibility, board.access true, board.control false; 1 as boards.update PATCH /boards s:read member open visibility',
        'response P2 update Board: not_found → insufficient_scope; token.scope s:read, board.access false; 2 as boards.update PATCH /boards s:read member closed visibility',
        'response P2 update Comment: not_found → insufficient_scope; token.scope s:read, board.access false; 2 as comments.update PATCH /comments s:read member closed caller',
        'response P2 update Comment: forbidden → insufficient_scope; token.scope s:read, comment.author other, board.control true; 2 as comments.update PATCH /comments s:read owner open other',
        'response P2 update Comment: forbidden → insufficient_scope; token.scope s:read, comment.author other, board.access true; 3 as comments.update PATCH /comments s:read owner open other',
      ],
    ],
    [
      'a permission is removed, and another one is allowed',
      views,
      [],
      [
        'widening P1 read Comment: insufficient_scope → allowed; token.scope s:read|write, board.control true (usual scope); 8 as comments.read GET /comments s:read owner open caller',
        'widening P1 read Comment: insufficient_scope → allowed; token.scope s:read|write, board.access true (usual scope); 12 as comments.read GET /comments s:read owner open caller',
        'narrowing P1 view Board: allowed → absent; token.scope s:read|write, board.visibility open (usual scope); 4 as boards.view GET /view s:read owner open',
        'narrowing P1 view Board: allowed → absent; token.scope s:read|write, caller.role owner (usual scope); 4 as boards.view GET /view s:read owner open',
        'response P1 read Comment: insufficient_scope → not_found; token.scope s:read|write, board.access false; 4 as comments.read GET /comments s:read member closed caller',
      ],
    ],
  ])('%s', (_what, before, after, lines) => {
    expect(linesOf(small(...before), small(...after))).toEqual(lines)
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

  test('one counts for its points only, and only in the change of the policy that it names, which adds it', () => {
    const [before, after] = [small(), small(anyAuthor)]
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
    expect(diff.changes.map(lineOf)).toEqual([
      'widening P2 update Comment: forbidden → allowed; token.scope write, comment.author other, board.control true (usual scope); 2 as comments.update PATCH /comments write owner open other; owners may',
      'widening P2 update Comment: forbidden → allowed; token.scope write, comment.author other, board.access true, board.control false (usual scope); 1 as comments.update PATCH /comments write member open other',
    ])
  })

  test('what is narrower is not declared', () => {
    const [before, after] = [small(anyAuthor), small()]
    const declaration = declare(before, 'update Comment', {}, 'wanted')
    const diff = diffPolicies(before, after, [declaration])
    expect([diff.unused, diff.changes.map(({ declared }) => declared)]).toEqual([[declaration], [undefined, undefined]])
  })

  test('one of a definition counts if it is about all points in which the definition is true now', () => {
    const noneOpen: Edit = [
      'permissions',
      'conditions: { board.visibility: open }',
      'conditions: { board.visibility: open, caller.role: owner }',
    ]
    const [before, after] = [small(...guests, noneOpen), small(...guests)]
    const part = declare(before, 'define board.access', { 'caller.role': ['member'] }, 'a part')
    const ofAnother = declare(before, 'define board.control', {}, 'another one')
    const whole = declare(before, 'define board.access', { 'caller.role': ['member', 'guest'], 'board.visibility': ['open'] }, 'the whole')
    const declared = diffPolicies(before, after, [part, ofAnother, whole])
    expect([declared.definitions.map(definitionLine), declared.unused]).toEqual([
      ['board.access true; caller.role member|guest, board.visibility open; the whole'],
      [part, ofAnother],
    ])
    const back = { ...whole, from: after.hash.slice(0, 12) }
    const narrower = diffPolicies(after, before, [back])
    expect([narrower.definitions.map(definitionLine), narrower.unused]).toEqual([
      ['board.access false; caller.role member|guest, board.visibility open'],
      [back],
    ])
  })

  test('a widening without one is undeclared, be it of a permission or of a definition', () => {
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
