import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { filesFrom, hashOf, loadEngineInTurns, withDependencies, type PolicyFiles } from '../../src/policy/engine.ts'
import { shipped } from '../support/policy.ts'
import { small, smallFiles } from '../support/small-policy.ts'

const member = { 'caller.membership': 'active', 'caller.role': 'member' }
const outsider = { ...member, 'board.visibility': 'private', 'board.caller': 'none' }
const insider = { ...member, 'board.visibility': 'private', 'board.caller': 'member' }

describe('calls that CASL would allow', () => {
  test('a fact that is missing, or that is only inherited, and a value that is not in the vocabulary are refused', () => {
    const { 'board.caller': _removed, ...facts } = insider
    const inherited = Object.assign(Object.create({ 'board.caller': 'creator' }) as object, facts) as never
    expect(() => shipped.decide('update Comment', {})).toThrow('fact "caller.membership" is missing')
    for (const one of [facts, inherited]) expect(() => shipped.decide('read Board', one)).toThrow('fact "board.caller" is missing')
    const wrong = '"Creator" is not a value of fact "board.caller"'
    expect(() => shipped.decide('read Board', { ...insider, 'board.caller': 'Creator' })).toThrow(wrong)
  })
  test('a permission that is not in the vocabulary is refused', () => {
    expect(() => shipped.decide('manage all', insider)).toThrow('"manage all" is not a permission of the vocabulary')
    expect(() => shipped.checkScope('manage all', { 'token.scope': 'kanban:admin' })).toThrow('is not a permission')
  })
  test('a permission that is decided by field requires at least one field, and all must be allowed', () => {
    expect(() => shipped.decide('update Board', insider)).toThrow('no field is given')
    expect(() => shipped.decide('update Board', insider, [])).toThrow('no field is given')
    expect(() => shipped.decide('update Board', insider, ['nmae'])).toThrow('"nmae" is not a field')
    expect(shipped.decide('update Board', insider, ['name', 'description']).outcome).toBe('allowed')
    expect(shipped.decide('update Board', insider, ['name', 'visibility']).outcome).toBe('forbidden')
  })
  test('facts can neither choose the subject nor set a definition', () => {
    const facts = {
      ...outsider,
      __caslSubjectType__: 'Account',
      modelName: 'Account',
      'board.access': 'true',
      'board/access': 'true',
      constructor: 'Account',
    }
    expect(shipped.decide('read Board', facts).outcome).toBe('not_found')
  })
})

test('a decision can be replayed after a JSON round trip', () => {
  const first = shipped.decide('delete Board', insider)
  const { permission, facts, fields } = JSON.parse(JSON.stringify(first)) as typeof first
  expect(shipped.decide(permission, facts, fields)).toEqual(first)
})

test('an engine is immutable', () => {
  expect(() => Object.assign(shipped, { decide: () => undefined })).toThrow()
  const { rules } = shipped.decide('read Board', insider)
  expect(rules).toEqual(['P2'])
})

describe('the engine of a small policy', () => {
  const open = { 'caller.role': 'member', 'board.visibility': 'open' }
  const closed = { 'caller.role': 'member', 'board.visibility': 'closed' }
  const owner = { 'caller.role': 'owner', 'board.visibility': 'closed' }

  test('a definition is evaluated after those that it depends on, and no other one is', () => {
    const { vocabulary, permissionRules } = small()
    expect(withDependencies(['board.control'], vocabulary, permissionRules)).toEqual(['board.access', 'board.control'])
    expect(withDependencies(['board.access'], vocabulary, permissionRules)).toEqual(['board.access'])
  })

  test('the scope table has the row and the least scope of a permission', () => {
    const engine = small()
    expect(engine.checkScope('read Board', { 'token.scope': 'none' })).toEqual({ allowed: false, row: 'S1', required: 's:read' })
    expect(engine.checkScope('read Board', { 'token.scope': 'write' })).toEqual({ allowed: true, row: 'S1', required: 's:read' })
    expect(engine.checkScope('read Log', { 'token.scope': 'write' })).toEqual({ allowed: false, row: 'no token', required: 'web_app' })
  })

  test('a permission without a rule is allowed to nobody, and its rows and scope have a name', () => {
    const rule = '  - { id: S2.delete, row: S2, action: delete, subject: Board, conditions: { token.scope: write }, reason: Writes. }\n'
    const log = '  - { id: X1, row: X1, action: read, subject: Log, conditions: { caller.role: owner }, reason: An owner. }\n'
    const engine = small(['scopes', rule, ''], ['permissions', log, ''])
    expect(engine.checkScope('delete Board', { 'token.scope': 'write' })).toEqual({
      allowed: false,
      row: '(no row)',
      required: '(no scope)',
    })
    expect(engine.decide('read Log', { 'caller.role': 'owner' })).toMatchObject({ outcome: 'forbidden', row: '(no row)', reason: '' })
  })

  test('several rules that allow something are all stated, sorted, and each reason once', () => {
    const twice = small(
      ['permissions', '- { id: P1, row: P1,', '- { id: P1.z, row: P1,'],
      [
        'permissions',
        'reason: It is seen. }\n',
        'reason: It is seen. }\n' +
          '  - { id: P1.b, row: P1, action: read, subject: Board, conditions: { caller.role: member }, reason: "Always." }\n' +
          '  - { id: P1.a, row: P1, action: read, subject: Board, conditions: { board.visibility: open }, reason: It is seen. }\n',
      ],
    )
    expect(twice.decide('read Board', open)).toEqual({
      outcome: 'allowed',
      permission: 'read Board',
      fields: undefined,
      facts: open,
      derived: { 'board.access': true },
      rules: ['P1.a', 'P1.b', 'P1.z'],
      row: 'P1',
      reason: 'Always. It is seen.',
    })
    expect(twice.decide('read Board', owner)).toMatchObject({ rules: ['P1.z'], reason: 'It is seen.' })
    expect(twice.decide('read Board', open, undefined, 'P1.z')).toMatchObject({ rules: ['P1.a', 'P1.b'] })
  })

  test('a decision about several fields has the rules of all', () => {
    const opened = { ...owner, 'board.visibility': 'open' }
    expect(small().decide('update Board', opened, ['visibility', 'name'])).toMatchObject({
      outcome: 'allowed',
      rules: ['P2.all', 'P2.name'],
      reason: 'A name. An owner.',
    })
    expect(small().decide('update Board', open, ['visibility', 'name'])).toEqual({
      outcome: 'forbidden',
      permission: 'update Board',
      fields: ['visibility', 'name'],
      facts: open,
      derived: { 'board.access': true },
      rules: [],
      row: 'P2',
      reason: 'P2.name: A name. Or P2.all: An owner.',
    })
  })

  test('only a definition that must hold for its subject to be found hides it', () => {
    expect(small().decide('delete Board', open)).toMatchObject({
      outcome: 'forbidden',
      derived: { 'board.access': true, 'board.control': false },
      reason: 'P2.gone: An owner.',
    })
    expect(small().decide('delete Board', closed)).toEqual({
      outcome: 'not_found',
      permission: 'delete Board',
      fields: undefined,
      facts: closed,
      derived: { 'board.access': false, 'board.control': false },
      rules: [],
      row: 'P2',
      reason: 'board.access does not hold',
    })
    const both = small([
      'vocabulary',
      'not_found_unless: [board.access], forbidden_unless: [board.control]',
      'not_found_unless: [board.access, board.control]',
    ])
    expect(both.decide('delete Board', open).reason).toBe('board.control does not hold')
  })

  test('a definition holds or not, and one that is not in the vocabulary is refused', () => {
    const engine = small()
    const names = ['board.access', 'board.control']
    expect([open, closed, owner].map((facts) => names.map((name) => engine.holds(name, facts)))).toEqual([
      [true, false],
      [false, false],
      [true, true],
    ])
    expect(() => engine.holds('board.acess', open)).toThrow(new TypeError('policy: "board.acess" is not a definition of the vocabulary'))
  })
})

describe('the files of a policy', () => {
  const files = filesFrom((path) => ({ path, text: `é ${path}` }))

  test('are read by their paths', () => {
    expect(files).toEqual({
      vocabulary: { path: 'vocabulary.yaml', text: 'é vocabulary.yaml' },
      specification: { path: 'specification.yaml', text: 'é specification.yaml' },
      scopes: { path: 'scopes.yaml', text: 'é scopes.yaml' },
      permissions: { path: 'permissions.yaml', text: 'é permissions.yaml' },
      cases: { path: 'decisions/cases.yaml', text: 'é decisions/cases.yaml' },
      operations: { path: 'decisions/operations.yaml', text: 'é decisions/operations.yaml' },
    })
  })

  test('have a hash that covers their sizes in bytes and their texts', () => {
    const text =
      '18:é vocabulary.yaml21:é specification.yaml14:é scopes.yaml19:é permissions.yaml23:é decisions/cases.yaml28:é decisions/operations.yaml'
    expect(hashOf(files)).toBe(createHash('sha256').update(text).digest('hex'))
  })

  test('can be loaded in turns, with the same checks', async () => {
    const loaded = await loadEngineInTurns(smallFiles())
    expect({ hash: loaded.hash, permissions: [...loaded.vocabulary.permissions.keys()] }).toEqual({
      hash: hashOf(smallFiles()),
      permissions: [...small().vocabulary.permissions.keys()],
    })
    const domains: unknown[] = []
    await loadEngineInTurns(smallFiles(), ({ domain }) => domains.push(domain))
    expect(domains).toEqual([undefined])
    const bad: PolicyFiles = smallFiles(['operations', 'log.read:', 'boards.read:'])
    await expect(loadEngineInTurns(bad)).rejects.toThrow('"boards.read" is an operation of the API, too')
  })
})
