import { describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { loadPolicy } from '../../src/authz/shipped-policy.ts'
import { PolicyInvariantError } from '../../src/policy/folder.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { webActions } from '../../src/resources/web-actions.ts'
import type { PolicyFiles } from '../../src/policy/engine.ts'
import { webOperation } from '../../src/policy/operations.ts'
import { proveInvariants } from '../../src/policy/prove.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { quiet } from '../support/log.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'

/** The shipped tables with one replacement in the text of a file. */
function changed(table: keyof PolicyFiles, from: string, to: string) {
  const file = shippedFiles[table]
  if (file.text.split(from).length !== 2) throw new Error(`"${from}" does not occur exactly once in ${file.path}`)
  return load({ ...shippedFiles, [table]: { ...file, text: file.text.replace(from, () => to) } })
}

test('the proof of the shipped tables succeeds', () => {
  const proof = proveInvariants(shipped, [...operations, ...webActions])
  expect(proof.failures).toEqual([])
  expect(proof.cells).toBe(countCells())
})

/** The size of the decision space: for each permission the product of the numbers of values, times its fields. */
function countCells(): number {
  const { permissions, groups: groupsByName } = shipped.vocabulary
  let count = 0
  for (const { groups, fields } of permissions.values()) {
    const sizes = groups.flatMap((group) => groupsByName.get(group)!.map(({ values }) => values.length))
    count += sizes.reduce((product, size) => product * size, 1) * (fields?.length ?? 1)
  }
  return count
}

// One violation of each invariant.
const violations: [what: string, ReturnType<typeof changed>, failure: string][] = [
  [
    'scopes that are not cumulative',
    changed(
      'scopes',
      '{ token.scope: { $in: ["kanban:read", "kanban:write", "kanban:admin"] } }',
      '{ token.scope: { $in: ["kanban:read", "kanban:admin"] } }',
    ),
    'scopes are not cumulative: "read Account" is allowed with kanban:read but not with kanban:write',
  ],
  [
    'a permission that is allowed without a Kanban scope',
    changed(
      'scopes',
      '{ token.scope: { $in: ["kanban:read", "kanban:write", "kanban:admin"] } }',
      '{ token.scope: { $in: [none, "kanban:read", "kanban:write"] } }',
    ),
    '"read Account" is allowed with token.scope none',
  ],
  [
    'a permission without an S rule',
    changed('scopes', 'subject: [Account, Directory, Access, Board,', 'subject: [Account, Access, Board,'),
    '"read Directory" has no S rule',
  ],
  [
    'a permission with two S rules',
    changed('scopes', 'action: set_visibility\n    subject: Board', 'action: [set_visibility, update]\n    subject: Board'),
    '"update Board" has several S rules: S2.edit, S3.visibility',
  ],
  [
    'an S rule for a permission that no token can have',
    changed('scopes', 'subject: [Account, Directory, Access, Board,', 'subject: [Account, Directory, Access, AuditTrail, Board,'),
    '"read AuditTrail" has the S rule S1; only the web app may ask for it',
  ],
  [
    'a permission of the web app in a row that has a scope',
    changed('permissions', 'id: X8\n    row: X8\n', 'id: X3.rules\n    row: X3\n'),
    'row X3 is not of the web app alone; its permission "change TokenRules" is the opposite',
  ],
  [
    'a permission without a P or X rule',
    changed(
      'permissions',
      'action: [create, rename, move, archive]\n    subject: Column',
      'action: [create, rename, move]\n    subject: Column',
    ),
    '"archive Column" has no P or X rule',
  ],
  [
    'a permission with rules of two rows',
    changed('permissions', 'action: restore\n    subject: Column', 'action: [restore, archive]\n    subject: Column'),
    '"archive Column" has rules of several rows: P8, X1',
  ],
  [
    'a rule that does not require board access',
    changed('permissions', '{ board.access: true, comment.author: caller }', '{ comment.author: caller }'),
    'P14 allows "update Comment" without board.access',
  ],
  [
    'a scope rule that allows less than the minimum scope of its row',
    changed(
      'scopes',
      'subject: [Board, Card]\n    conditions: { token.scope: "kanban:admin" }',
      'subject: [Board, Card]\n    conditions: { token.scope: { $in: ["kanban:read", "kanban:write", "kanban:admin"] } }',
    ),
    'the minimum scope of "delete Board" is kanban:read; its row S3 has the minimum scope kanban:admin',
  ],
  [
    'a permission that the greatest scope does not allow',
    changed(
      'scopes',
      'conditions: { token.scope: "kanban:admin" }\n    reason: Visibility',
      'conditions: { token.scope: "kanban:write" }\n    reason: Visibility',
    ),
    '"set_visibility Board" is not allowed with token.scope kanban:admin',
  ],
  [
    'a resource that may be changed but not read',
    changed(
      'permissions',
      'conditions: { board.access: true }\n    reason: Board access includes reading',
      'conditions: { board.access: true, board.caller: { $in: [creator, member] } }\n    reason: Board access includes reading',
    ),
    'P9 allows "create Card" where "read Card" is denied',
  ],
  [
    'a permission whose subject another definition hides than from its readers',
    changed(
      'vocabulary',
      '  - groups: [caller, board, comment]\n    not_found_unless: [board.access]\n',
      '  - groups: [caller, board, comment]\n    forbidden_unless: [board.access]\n',
    ),
    '"update Comment" lacks board.access under not_found_unless, which "read Comment" has',
  ],
  [
    'a permission that is never allowed',
    changed(
      'permissions',
      'action: set_visibility\n    subject: Board\n    conditions: { board.access: true, board.caller: creator }',
      'action: set_visibility\n    subject: Board\n    conditions: { board.access: true, board.caller: creator, caller.membership: ended }',
    ),
    '"set_visibility Board" is never allowed',
  ],
  [
    'a row without a rule',
    changed('specification', '  X2: ', '  X99: { scope: "kanban:read", words: "(extension) something else" }\n  X2: '),
    'row X99 has no rule',
  ],
  [
    'a rule that can be removed',
    changed(
      'permissions',
      '  - id: P3\n',
      '  - id: P3.again\n    row: P3\n    action: create_board\n    subject: Workspace\n    conditions: { caller.membership: active, caller.role: owner }\n    reason: because\n  - id: P3\n',
    ),
    'P3.again can be removed: no decision changes',
  ],
  [
    'a definition that always holds',
    changed(
      'permissions',
      'conditions: { label.board: this }',
      'conditions: { label.board: { $in: [this] } }\n    reason: and\n  - id: D3.label2\n    row: D3\n    action: define\n    subject: label.belongs\n    conditions: { label.board: other }',
    ),
    'label.belongs is true in all cells',
  ],
]

const CREATE = { id: 'cards.create', method: 'POST', path: '/boards/{board_id}/cards', permission: 'create Card', row: 'P9', also: [] }
const READ = { id: 'boards.read', method: 'GET', path: '/boards/{board_id}', permission: 'read Board', row: 'P2', also: [] }
const AUDIT = webOperation('workspace.audit', 'read AuditTrail', 'X6')

describe('the proof', () => {
  test.each(violations)('the proof fails for %s', (_what, engine, failure) => {
    expect(proveInvariants(engine, []).failures.join('\n')).toContain(failure)
  })

  test.each([
    [{ ...READ, row: 'P3' }, 'operation boards.read states row P3; the deciding row is P2'],
    [{ ...READ, permission: 'peek Board' }, 'operation boards.read needs "peek Board", which is not a permission of the vocabulary'],
    [
      { ...CREATE, also: [{ member: 'label_ids', permission: 'apply_label Card', row: 'P9' }] },
      'operation cards.create (label_ids) states row P9; the deciding row is P12',
    ],
    [
      { ...CREATE, also: [{ member: 'label_ids', permission: 'peek Card', row: 'P12' }] },
      'operation cards.create (label_ids) needs "peek Card", which is not a permission of the vocabulary',
    ],
    [
      { ...CREATE, also: [{ member: 'gone', permission: 'delete Card', row: 'P10' }] },
      'operation cards.create (gone) needs "delete Card", which requires kanban:admin; the scope of the operation is kanban:write',
    ],
    [
      { ...CREATE, also: [{ member: 'board', permission: 'update Board', row: 'P4' }] },
      'operation cards.create (board) needs "update Board", which is decided by field',
    ],
    [{ ...READ, permission: 'read AuditTrail', row: 'X6' }, 'operation boards.read needs "read AuditTrail", which no token can have'],
    [AUDIT, 'no operation needs "change TokenRules"'],
    [AUDIT, 'the decisions have an operation workspace.tokens, which does not exist'],
    [
      webOperation('workspace.audit', 'read Account', 'P1'),
      'operation workspace.audit needs "read Account", which is not a permission of the web app',
    ],
    [webOperation('workspace.audit', 'read AuditTrail', 'X7'), 'operation workspace.audit states row X7; the deciding row is X6'],
    [
      webOperation('workspace.tokens', 'read AuditTrail', 'X6'),
      'operation workspace.tokens is web app, "read AuditTrail" by X6; the decisions say web app, "read MemberToken" by X7',
    ],
    [webOperation('workspace.other', 'read AuditTrail', 'X6'), 'the decisions do not have the operation workspace.other'],
  ])('the proof fails for a wrong claim of an operation: %o', (claim, failure) => {
    expect(proveInvariants(shipped, [claim]).failures).toContain(failure)
  })
})

test('the proof fails for a permission that no operation needs', () => {
  const claims = [...operations, ...webActions].filter(({ id }) => id !== 'files.update')
  expect(proveInvariants(shipped, claims).failures).toEqual([
    'no operation needs "update File"',
    'the decisions have an operation files.update, which does not exist',
  ])
})

describe('the start of the service', () => {
  const start = (options: object) => () => createApp({ store: createMemoryStore(), log: quiet, ...options })
  const read = operations.find(({ id }) => id === 'boards.read')!
  const withRow = (id: string, change: (row: Operation) => object) =>
    operations.map((one) => (one.id === id ? { ...one, ...change(one) } : one))
  const replaced = (from: string, to: string) => {
    const files = Object.entries(shippedFiles).map(([name, file]) => [name, { ...file, text: file.text.replaceAll(from, to) }])
    return load(Object.fromEntries(files) as unknown as PolicyFiles)
  }

  test.each<[what: string, options: object, message: string]>([
    ['if the proof fails', { engine: violations[0]![1] }, 'The policy does not hold:'],
    [
      'with an operation that states a wrong row',
      { operations: withRow('boards.delete', () => ({ row: 'P5' })) },
      'operation boards.delete states row P5',
    ],
    [
      'if a permission is asked about a member that the body of its operation does not have',
      { operations: withRow('cards.create', ({ also }) => ({ also: also.map((one) => ({ ...one, member: `${one.member}_` })) })) },
      'operation cards.create asks a permission about "label_ids_", which is no member of its body',
    ],
    [
      'with a fact that has no reader',
      { engine: replaced('  label:\n    board:', '  sprint:\n    open: { values: [yes_, no_], means: nothing }\n  label:\n    board:') },
      'fact "sprint.open" of the vocabulary has no reader',
    ],
    [
      'without a definition that it asks for by itself',
      { engine: replaced('user.belongs', 'user.known') },
      'the vocabulary has no definition user.belongs',
    ],
    [
      'if a definition that it asks for depends on other facts',
      { engine: replaced('user.belongs:\n    groups: [board, user]', 'user.belongs:\n    groups: [caller, board, user]') },
      'the definition user.belongs depends on caller, which the service does not state',
    ],
    [
      'if the values of a fact differ from those of its reader',
      { engine: replaced('values: [this, other]', 'values: [other, this]') },
      'fact "label.board" has the values other, this; its reader has this, other',
    ],
    ['if two operations have the same id', { operations: [...operations, read] }, 'operation boards.read is a duplicate'],
    [
      'if two operations have the same path',
      { operations: [...operations, { ...read, id: 'boards.peek', path: '/boards/{id}' }] },
      'boards.read and boards.peek',
    ],
  ])('the service does not start %s', (_what, options, message) => {
    expect(start(options)).toThrow(PolicyInvariantError)
    expect(start(options)).toThrow(message)
  })

  test('the service starts with the shipped policy', () => {
    expect(start({ engine: loadPolicy() })).not.toThrow()
  })
})
