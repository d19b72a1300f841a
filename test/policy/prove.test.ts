import { describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { loadPolicy } from '../../src/authz/shipped-policy.ts'
import { PolicyInvariantError } from '../../src/policy/folder.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { webActions } from '../../src/resources/web-actions.ts'
import { createEngine, type Engine, type EngineParts, type PolicyFiles } from '../../src/policy/engine.ts'
import { cells } from '../../src/policy/enumerate.ts'
import { operationsOf, webOperation } from '../../src/policy/operations.ts'
import { proveInvariants, requireSuccess } from '../../src/policy/prove.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { quiet } from '../support/log.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'
import { small, type Edit } from '../support/small-policy.ts'

/** The shipped tables with one replacement in the text of a file. */
function changed(table: keyof PolicyFiles, from: string, to: string) {
  const file = shippedFiles[table]
  if (file.text.split(from).length !== 2) throw new Error(`"${from}" does not occur exactly once in ${file.path}`)
  return load({ ...shippedFiles, [table]: { ...file, text: file.text.replace(from, () => to) } })
}

test('the proof of the shipped tables succeeds', () => {
  const proof = proveInvariants(shipped, [...operations, ...webActions])
  expect(proof.failures).toEqual([])
  expect(proof.cells).toBe([...cells(shipped.vocabulary)].length)
})

/** A rule that does not require board access. */
const withoutAccess = changed('permissions', '{ board.access: true, comment.author: caller }', '{ comment.author: caller }')

const CREATE = { id: 'cards.create', method: 'POST', path: '/boards/{board_id}/cards', permission: 'create Card', row: 'P9', also: [] }
const READ = { id: 'boards.read', method: 'GET', path: '/boards/{board_id}', permission: 'read Board', row: 'P2', also: [] }

describe('the proof', () => {
  test.each<[what: string, edit: Edit, failure: string]>([
    [
      'a rule that does not require board access',
      ['permissions', '{ board.access: true, comment.author: caller }', '{ comment.author: caller }'],
      'P2.own allows "update Comment" without board.access',
    ],
    [
      'a resource that may be changed but not read',
      [
        'permissions',
        '[Board, Comment], conditions: { board.access: true }',
        '[Board, Comment], conditions: { board.access: true, caller.role: owner }',
      ],
      'P2.name allows "update Board" where "read Board" is denied',
    ],
    [
      'a definition that always holds',
      ['permissions', 'board.access, conditions: { caller.role: owner }', 'board.access, conditions: { board.visibility: closed }'],
      'board.access is true in all cells',
    ],
  ])('the proof fails for %s', (_what, edit, failure) => {
    expect(proveInvariants(small(edit)).failures.join('\n')).toContain(failure)
  })

  const create = (member: string, permission: string, row: string) => ({ ...CREATE, also: [{ member, permission, row }] })
  test.each([
    [{ ...READ, row: 'P3' }, ' boards.read states row P3; the deciding row is P2'],
    [{ ...READ, permission: 'peek Board' }, ' boards.read needs "peek Board", which is not a permission of the vocabulary'],
    [{ ...READ, permission: 'read AuditTrail', row: 'X6' }, ' boards.read needs "read AuditTrail", which no token can have'],
    [create('label_ids', 'apply_label Card', 'P9'), ' cards.create (label_ids) states row P9; the deciding row is P12'],
    [create('label_ids', 'peek Card', 'P12'), ' cards.create (label_ids) needs "peek Card", which is not a permission of the vocabulary'],
    [
      create('gone', 'delete Card', 'P10'),
      ' cards.create (gone) needs "delete Card", which requires kanban:admin; the scope of the operation is kanban:write',
    ],
    [create('board', 'update Board', 'P4'), ' cards.create (board) needs "update Board", which is decided by field'],
    [
      webOperation('workspace.audit', 'read Account', 'P1'),
      ' workspace.audit needs "read Account", which is not a permission of the web app',
    ],
    [webOperation('workspace.audit', 'read AuditTrail', 'X7'), ' workspace.audit states row X7; the deciding row is X6'],
    [
      webOperation('workspace.tokens', 'read AuditTrail', 'X6'),
      ' workspace.tokens is web app, "read AuditTrail" by X6; the decisions say web app, "read MemberToken" by X7',
    ],
  ])('the proof fails for a wrong claim of an operation: %o', (claim, failure) => {
    expect(proveInvariants(shipped, [claim]).failures).toContain(`operation${failure}`)
  })

  test('the proof fails without operations that the decisions have, and with others', () => {
    expect(proveInvariants(shipped, [webOperation('workspace.other', 'read AuditTrail', 'X6')]).failures).toEqual(
      expect.arrayContaining([
        'the decisions do not have the operation workspace.other',
        'the decisions have an operation workspace.tokens, which does not exist',
        'no operation needs "change TokenRules"',
      ]),
    )
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
  const start = (options: object) => () => createApp({ store: createMemoryStore(createDerivations()), log: quiet, ...options })
  const read = operations.find(({ id }) => id === 'boards.read')!
  const withRow = (id: string, change: (row: Operation) => object) =>
    operations.map((one) => (one.id === id ? { ...one, ...change(one) } : one))
  const replaced = (from: string, to: string) => {
    const files = Object.entries(shippedFiles).map(([name, file]) => [name, { ...file, text: file.text.replaceAll(from, to) }])
    return load(Object.fromEntries(files) as unknown as PolicyFiles)
  }

  test.each<[what: string, options: object, message: string]>([
    ['if the proof fails', { engine: withoutAccess }, 'The policy does not hold:'],
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
      'if the values of a fact differ from the values of its reader',
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

/** The small policy with other rules or decisions than its files can state: the loader would refuse them. */
function smallWith(change: (parts: Engine) => Partial<EngineParts>): Engine {
  const engine = small()
  return createEngine({ ...engine, ...change(engine) })
}

const withScopeRule = (change: object) =>
  smallWith(({ scopeRules }) => ({ scopeRules: [...scopeRules, { ...scopeRules[2]!, id: 'S2.more', ...change }] }))
const withPermissionRule = (change: object) =>
  smallWith(({ permissionRules }) => ({ permissionRules: [...permissionRules, { ...permissionRules.at(-1)!, id: 'X1.more', ...change }] }))
const stating = (id: string, change: object) =>
  smallWith(({ decisions }) => {
    const permissions = new Map(decisions.permissions)
    permissions.set(id, { ...permissions.get(id)!, ...change })
    return { decisions: { ...decisions, permissions } }
  })
const scopeOfDelete = (condition: string) =>
  small(['scopes', 'subject: Board, conditions: { token.scope: write }', `subject: Board, conditions: { token.scope: ${condition} }`])

describe('the proof of a small policy', () => {
  test('lists the claims that it has proved', () => {
    const start = performance.now()
    const { milliseconds, ...proof } = proveInvariants(small(), operationsOf(small()))
    expect(proof).toMatchObject({ permissions: 6, cells: 34, failures: [] })
    expect(proof.checks.map(({ name, failures }) => [name, ...failures].join())).toEqual([
      'each permission requires its scope, and scopes are cumulative',
      'each permission has the rules of its row, and each row its scopes',
      'what hides a subject hides everything that is done with it',
      ...Object.entries({
        'read Board': 4,
        'update Board': 8,
        'delete Board': 4,
        'read Comment': 8,
        'update Comment': 8,
        'read Log': 2,
      }).map(([permission, cells]) => `"${permission}" answers what the decisions say in ${cells} cells`),
      'each definition is true in some cells',
      'no rule can be removed',
      'the operations are those that the decisions describe',
    ])
    expect(milliseconds).toBeGreaterThan(0)
    expect(milliseconds).toBeLessThanOrEqual(performance.now() - start)
    // Without operations, nothing is proved about them.
    expect(proveInvariants(small())).toMatchObject({ failures: [] })
  })

  test('is refused with all failures when it fails', () => {
    const proof = proveInvariants(small())
    expect(requireSuccess(proof)).toBe(proof)
    const failed = { ...proof, failures: ['first', 'second'] }
    expect(() => requireSuccess(failed)).toThrow(new PolicyInvariantError('The policy does not hold:\n  - first\n  - second'))
  })

  test.each<[what: string, engine: () => Engine, failures: readonly string[]]>([
    [
      'no scope',
      () => scopeOfDelete('"none"'),
      [
        'the minimum scope of "delete Board" is none; its row S2 has the minimum scope write',
        '"delete Board", row P2, requires none; the decisions say write',
        '"delete Board" is allowed with token.scope none',
        '"delete Board" is not allowed with token.scope write',
        'scopes are not cumulative: "delete Board" is allowed with none but not with s:read',
        'row P2 has the scope write; its permission "delete Board" requires none',
      ],
    ],
    [
      'a scope that is not cumulative',
      () => scopeOfDelete('"s:read"'),
      [
        'the minimum scope of "delete Board" is s:read; its row S2 has the minimum scope write',
        '"delete Board", row P2, requires s:read; the decisions say write',
        '"delete Board" is not allowed with token.scope write',
        'scopes are not cumulative: "delete Board" is allowed with s:read but not with write',
        'row P2 has the scope write; its permission "delete Board" requires s:read',
      ],
    ],
    [
      'all scopes of a token',
      () => scopeOfDelete('{ $in: ["s:read", write] }'),
      [
        'the minimum scope of "delete Board" is s:read; its row S2 has the minimum scope write',
        '"delete Board", row P2, requires s:read; the decisions say write',
        'row P2 has the scope write; its permission "delete Board" requires s:read',
      ],
    ],
    [
      'a scope rule of the web app',
      () => withScopeRule({ action: ['read'], subject: ['Log'] }),
      [
        '"read Log" is allowed with token.scope write; only the web app may ask for it',
        '"read Log" has the S rule S2.more; only the web app may ask for it',
      ],
    ],
    [
      'a second scope rule',
      () => withScopeRule({ action: ['update'], subject: ['Board'] }),
      ['"update Board" has several S rules: S2.update, S2.more'],
    ],
    [
      'no scope rule',
      () => smallWith(({ scopeRules }) => ({ scopeRules: scopeRules.slice(0, 2) })),
      [
        '"delete Board", row P2, requires (no scope); the decisions say write',
        '"delete Board" is not allowed with token.scope write',
        '"delete Board" has no S rule',
        'row P2 has the scope write; its permission "delete Board" requires (no scope)',
      ],
    ],
    [
      'a rule of another row',
      () => withPermissionRule({ row: 'P1' }),
      [
        '"read Log" has rules of several rows: X1, P1',
        'row P1 is not of the web app alone; its permission "read Log" is the opposite',
        'X1 can be removed: no decision changes',
        'X1.more can be removed: no decision changes',
      ],
    ],
    [
      'only a rule of another row',
      () =>
        smallWith(({ permissionRules }) => ({
          permissionRules: permissionRules.map((rule) => (rule.id === 'X1' ? { ...rule, row: 'P1' } : rule)),
        })),
      [
        '"read Log" has rules of row P1; the decisions say X1',
        'row X1 has no rule',
        'row P1 is not of the web app alone; its permission "read Log" is the opposite',
      ],
    ],
    [
      'no rule',
      () => smallWith(({ permissionRules }) => ({ permissionRules: permissionRules.slice(0, -1) })),
      [
        '"read Log" has no P or X rule',
        'row X1 has no rule',
        '"read Log", row X1: the tables answer 403; the decisions say ok (decision "owners", owner) (1 cells, for example caller.role owner)',
        '"read Log" is never allowed',
      ],
    ],
    [
      'a rule outside of the vocabulary',
      () => withPermissionRule({ row: 'X1', action: ['read', 'update'], subject: ['Log'] }),
      [
        'X1.more allows "update Log", which is not a permission of the vocabulary',
        'X1 can be removed: no decision changes',
        'X1.more can be removed: no decision changes',
      ],
    ],
    [
      'a scope rule outside of the vocabulary',
      () => withScopeRule({ action: ['delete'], subject: ['Comment'] }),
      ['S2.more allows "delete Comment", which is not a permission of the vocabulary'],
    ],
    [
      'decisions with another row',
      () => stating('update Comment', { row: 'P1' }),
      ['"update Comment" has rules of row P2; the decisions say P1'],
    ],
    [
      'decisions with another scope',
      () => stating('read Comment', { scope: 'write' }),
      ['"read Comment", row P1, requires s:read; the decisions say write'],
    ],
    [
      'a row with another scope',
      () => small(['specification', 'P1: { scope: "s:read",', 'P1: { scope: ["s:read", write],']),
      ['row P1 has the scope write, which none of its permissions requires'],
    ],
    [
      'a row of the web app',
      () => small(['specification', 'P1: { scope: "s:read",', 'P1: { surface: web_app,']),
      [
        'row P1 is of the web app alone; its permission "read Board" is the opposite',
        'row P1 is of the web app alone; its permission "read Comment" is the opposite',
      ],
    ],
    [
      'a row of tokens',
      () => small(['specification', 'X1: { surface: web_app,', 'X1: { scope: [none, "s:read"],']),
      ['row X1 is not of the web app alone; its permission "read Log" is the opposite'],
    ],
    [
      'a row without rules',
      () => small(['specification', '  X1:', '  X2: { scope: write, words: nothing }\n  X1:']),
      ['row X2 has no rule'],
    ],
    [
      'a permission that does not hide',
      () =>
        small([
          'vocabulary',
          'not_found_unless: [board.access], forbidden_unless: [board.control]',
          'forbidden_unless: [board.access, board.control]',
        ]),
      [
        '"delete Board" lacks board.access under not_found_unless, which "read Board" has',
        '"delete Board", row P2: the tables answer 403; the decisions say 404 (decision "owned", hidden, member) (1 cells, for example caller.role member, board.visibility closed)',
      ],
    ],
    [
      'a rule that another one makes superfluous',
      () => withPermissionRule({}),
      ['X1 can be removed: no decision changes', 'X1.more can be removed: no decision changes'],
    ],
  ])('fails for %s', (_what, engine, failures) => {
    expect(proveInvariants(engine()).failures).toEqual(failures)
  })
})
