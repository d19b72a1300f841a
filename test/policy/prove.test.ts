import { describe, expect, test } from 'vitest'
import { createApp, PolicyInvariantError, shippedEngine } from '../../src/app.ts'
import type { Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { loadEngine, type PolicyFiles } from '../../src/policy/engine.ts'
import { proveInvariants } from '../../src/policy/prove.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { quiet } from '../support/log.ts'
import { shipped, shippedFiles } from '../support/policy.ts'

/** The tables with one text put in place of another. */
function changed(table: keyof PolicyFiles, from: string, to: string) {
  const file = shippedFiles[table]
  if (file.text.split(from).length !== 2) throw new Error(`"${from}" does not stand once in ${file.path}`)
  return loadEngine({ ...shippedFiles, [table]: { ...file, text: file.text.replace(from, () => to) } })
}

test('the shipped tables are proved', () => {
  const proof = proveInvariants(
    shipped,
    operations.map(({ id, needs, row }) => ({ id, permission: needs.join(' '), row })),
  )
  expect(proof.failures).toEqual([])
  // By hand: the product of the values of each pair's facts, times its fields.
  expect(proof.cells).toBe(countByHand())
})

function countByHand(): number {
  const { permissions, groups: groupsByName } = shipped.vocabulary
  let count = 0
  for (const { groups, fields } of permissions.values()) {
    const sizes = groups.flatMap((group) => groupsByName.get(group)!.map(({ values }) => values.length))
    count += sizes.reduce((product, size) => product * size, 1) * (fields?.length ?? 1)
  }
  return count
}

// Each planted once, so that the proof is seen to fail.
const planted: [what: string, ReturnType<typeof changed>, failure: string][] = [
  [
    'scopes that are not cumulative',
    changed(
      'scopes',
      '{ token.scope: { $in: ["kanban:read", "kanban:write", "kanban:admin"] } }',
      '{ token.scope: { $in: ["kanban:read", "kanban:admin"] } }',
    ),
    'scopes are not cumulative: "read Account" is allowed to kanban:read and not to kanban:write',
  ],
  [
    'a token without any Kanban scope',
    changed(
      'scopes',
      '{ token.scope: { $in: ["kanban:read", "kanban:write", "kanban:admin"] } }',
      '{ token.scope: { $in: [none, "kanban:read", "kanban:write"] } }',
    ),
    '"read Account" is allowed to token.scope none',
  ],
  [
    'a pair without a scope row',
    changed('scopes', 'subject: [Account, Directory, Board,', 'subject: [Account, Board,'),
    '"read Directory" stands in no S row',
  ],
  [
    'a pair in two scope rows',
    changed('scopes', 'action: set_visibility\n    subject: Board', 'action: [set_visibility, update]\n    subject: Board'),
    '"update Board" stands in several S rows: S2.edit, S3.visibility',
  ],
  [
    'a pair that no row permits',
    changed(
      'permissions',
      'action: [create, rename, move, archive]\n    subject: Column',
      'action: [create, rename, move]\n    subject: Column',
    ),
    '"archive Column" stands in no P or X row',
  ],
  [
    'a pair that two rows permit',
    changed('permissions', 'action: restore\n    subject: Column', 'action: [restore, archive]\n    subject: Column'),
    '"archive Column" stands in several rows: P8, X1',
  ],
  [
    'a rule that forgets board access',
    changed('permissions', '{ board.access: true, comment.author: caller }', '{ comment.author: caller }'),
    'P14 allows "update Comment" without board.access',
  ],
  [
    'a scope row that opens to less than it says',
    changed(
      'scopes',
      'subject: [Board, Card]\n    conditions: { token.scope: "kanban:admin" }',
      'subject: [Board, Card]\n    conditions: { token.scope: { $in: ["kanban:read", "kanban:write", "kanban:admin"] } }',
    ),
    '"delete Board" is opened to kanban:read; row S3 opens to kanban:admin',
  ],
  [
    'a pair that is closed to the greatest scope',
    changed(
      'scopes',
      'conditions: { token.scope: "kanban:admin" }\n    reason: Visibility',
      'conditions: { token.scope: "kanban:write" }\n    reason: Visibility',
    ),
    '"set_visibility Board" is not allowed to token.scope kanban:admin',
  ],
  [
    'something that may be changed where it may not be read',
    changed(
      'permissions',
      'conditions: { board.access: true }\n    reason: Whoever may see a board sees all',
      'conditions: { board.access: true, board.caller: { $in: [creator, member] } }\n    reason: Whoever may see a board sees all',
    ),
    'P9 allows "create Card" where "read Card" is denied',
  ],
  [
    'a pair that nobody is allowed',
    changed(
      'permissions',
      'action: set_visibility\n    subject: Board\n    conditions: { board.access: true, board.caller: creator }',
      'action: set_visibility\n    subject: Board\n    conditions: { board.access: true, board.caller: creator, caller.membership: ended }',
    ),
    '"set_visibility Board" is allowed for nobody',
  ],
  ['a row without a rule', changed('vocabulary', '  X2: ', '  X3: "(extension) something else"\n  X2: '), 'row X3 has no rule'],
  [
    'a rule that decides nothing',
    changed(
      'permissions',
      '  - id: P3\n',
      '  - id: P3.again\n    row: P3\n    action: create_board\n    subject: Workspace\n    conditions: { caller.membership: active, caller.role: owner }\n    reason: because\n  - id: P3\n',
    ),
    'P3.again decides nothing that no other rule decides',
  ],
  [
    'a definition that always holds',
    changed(
      'permissions',
      'conditions: { label.board: this }',
      'conditions: { label.board: { $in: [this] } }\n    reason: and\n  - id: D3.label2\n    row: D3\n    action: define\n    subject: label.belongs\n    conditions: { label.board: other }',
    ),
    'label.belongs is always the same',
  ],
]

describe('the proof fails on', () => {
  test.each(planted)('%s', (_what, engine, failure) => {
    expect(proveInvariants(engine, []).failures.join('\n')).toContain(failure)
  })

  test.each([
    [{ id: 'boards.read', permission: 'read Board', row: 'P3' }, 'operation boards.read says it is decided by P3; it is decided by P2'],
    [
      { id: 'boards.read', permission: 'peek Board', row: 'P2' },
      'operation boards.read needs "peek Board", which is no pair of the vocabulary',
    ],
  ])('an operation that says something else: %o', (claim, failure) => {
    expect(proveInvariants(shipped, [claim]).failures).toContain(failure)
  })
})

test('the proof fails on a pair that no operation asks', () => {
  const claims = operations
    .filter(({ id }) => id !== 'files.update')
    .map(({ id, needs, row }) => ({ id, permission: needs.join(' '), row }))
  expect(proveInvariants(shipped, claims).failures).toEqual(['"update File" is asked by no operation'])
})

describe('the service does not start', () => {
  const start = (options: object) => () => createApp({ store: createMemoryStore(), log: quiet, ...options })
  test('with tables that are not proved', () => {
    expect(start({ engine: planted[0]![1] })).toThrow(PolicyInvariantError)
  })
  test('with an operation whose row is not the deciding one', () => {
    expect(start({ operations: operations.map((row) => (row.id === 'boards.delete' ? { ...row, row: 'P5' } : row)) })).toThrow(
      'boards.delete says it is decided by P5',
    )
  })
  test('with a fact that nothing reads', () => {
    const engine = changed(
      'vocabulary',
      '  label:\n    board:',
      '  sprint:\n    open: { values: [yes_, no_], means: nothing }\n  label:\n    board:',
    )
    expect(start({ engine })).toThrow('fact "sprint.open" of the vocabulary is read nowhere')
  })
  test('with a fact that has other values than it is read as', () => {
    const engine = changed(
      'vocabulary',
      'values: [active, ended]\n      means: whether the person',
      'values: [active, left]\n      means: whether the person',
    )
    expect(start({ engine })).toThrow('fact "user.membership" has the values active, left; it is read as active, ended')
  })
  test.each([
    ['twice', (row: Operation) => row, 'stands twice'],
    ['twice on one path', (row: Operation) => ({ ...row, id: 'boards.peek', path: '/boards/{id}' }), 'boards.read and boards.peek'],
  ])('with an operation that stands %s', (_what, change, message) => {
    const row = operations.find(({ id }) => id === 'boards.read')!
    expect(start({ operations: [...operations, change(row)] })).toThrow(message)
  })
  test('and with the shipped ones it does', () => {
    expect(start({ engine: shippedEngine() })).not.toThrow()
  })
})
