import { describe, expect, test } from 'vitest'
import { diffPolicies, undeclared, type DefinitionChange, type PolicyChange } from '../../src/policy/decision-diff.ts'
import type { Engine } from '../../src/policy/engine.ts'
import { readSource } from '../../src/policy/source.ts'
import { readWidenings } from '../../src/policy/widenings.ts'
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
const noOwners: Edit = [
  'permissions',
  '  - { id: D1.owner, row: D1, action: define, subject: board.access, conditions: { caller.role: owner }, reason: Owners see all. }\n',
  '',
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
      'a definition is wider',
      [noOwners],
      [],
      [
        'board.access true; caller.role owner, board.visibility closed',
        'board.control true; caller.role owner, board.visibility closed',
        'widening P1 read Board: not_found → allowed; token.scope s:read|write, caller.role owner, board.visibility closed (usual scope); 2 as boards.read GET /boards s:read owner closed',
        'widening P2 update Board: not_found → allowed; token.scope write, caller.role owner, board.visibility closed (usual scope); 2 as boards.update PATCH /boards write owner closed visibility',
        'widening P2 delete Board: not_found → allowed; token.scope write, caller.role owner, board.visibility closed (usual scope); 1 as boards.delete DELETE /boards write owner closed',
        'widening P1 read Comment: not_found → allowed; token.scope s:read|write, caller.role owner, board.visibility closed (usual scope); 4 as comments.read GET /comments s:read owner closed caller',
        'widening P2 update Comment: not_found → allowed; token.scope write, caller.role owner, board.visibility closed, comment.author caller (usual scope); 1 as comments.update PATCH /comments write owner closed caller',
        'widening P2 update Comment: not_found → forbidden; token.scope write, caller.role owner, board.visibility closed, comment.author other (usual scope); 1 as comments.update PATCH /comments write owner closed other',
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
      'a definition hides',
      [unhidden],
      [],
      [
        'narrowing P2 delete Board: forbidden → not_found; token.scope write, board.access false (usual scope); 1 as boards.delete DELETE /boards write member closed',
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
      'a value of a fact is removed',
      guests,
      [],
      [
        'board.access false; caller.role guest, board.visibility open',
        'narrowing P1 read Board: allowed → absent; token.scope s:read|write, caller.role guest, board.visibility open (usual scope); 2 as boards.read GET /boards s:read guest open',
        'narrowing P2 update Board: allowed → absent; token.scope write, caller.role guest, board.visibility open, field name (usual scope); 1 as boards.update PATCH /boards write guest open name',
        'narrowing P1 read Comment: allowed → absent; token.scope s:read|write, caller.role guest, board.visibility open (usual scope); 4 as comments.read GET /comments s:read guest open caller',
        'narrowing P2 update Comment: allowed → absent; token.scope write, caller.role guest, board.visibility open, comment.author caller (usual scope); 1 as comments.update PATCH /comments write guest open caller',
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
