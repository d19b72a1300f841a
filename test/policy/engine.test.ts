import { createMongoAbility } from '@casl/ability'
import { describe, expect, test } from 'vitest'
import { shipped } from '../support/policy.ts'

const member = { 'caller.membership': 'active', 'caller.role': 'member' }
const outsider = { ...member, 'board.visibility': 'private', 'board.caller': 'none' }
const insider = { ...member, 'board.visibility': 'private', 'board.caller': 'member' }

describe('calls that CASL would allow', () => {
  // The first two tests show what CASL does, and why the engine does not expose its API.
  test('CASL ignores conditions if it gets the name of a subject', () => {
    const ability = createMongoAbility([{ action: 'update', subject: 'Comment', conditions: { author: 'caller' } }])
    expect(ability.can('update', 'Comment')).toBe(true)
  })
  test('CASL ignores fields if it gets no field', () => {
    const ability = createMongoAbility([{ action: 'update', subject: 'Board', fields: ['name'] }])
    expect(ability.can('update', 'Board')).toBe(true)
  })

  test('a decision without facts is refused', () => {
    expect(() => shipped.decide('update Comment', {})).toThrow('fact "caller.membership" is missing')
  })
  test('a decision with a missing fact is refused', () => {
    const { 'board.caller': _removed, ...facts } = insider
    expect(() => shipped.decide('read Board', facts)).toThrow('fact "board.caller" is missing')
  })
  test('an inherited fact is missing', () => {
    const facts = Object.assign(Object.create({ 'board.caller': 'creator' }) as object, {
      ...member,
      'board.visibility': 'private',
    }) as never
    expect(() => shipped.decide('read Board', facts)).toThrow('fact "board.caller" is missing')
  })
  test('a value that is not in the vocabulary is refused', () => {
    expect(() => shipped.decide('read Board', { ...insider, 'board.caller': 'Creator' })).toThrow(
      '"Creator" is not a value of fact "board.caller"',
    )
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

describe('a decision', () => {
  test('a decision that allows has the rule, its row and its reason', () => {
    expect(shipped.decide('delete Board', { ...insider, 'caller.role': 'admin' })).toEqual({
      outcome: 'allowed',
      permission: 'delete Board',
      fields: undefined,
      facts: { ...insider, 'caller.role': 'admin' },
      derived: { 'board.access': true },
      rules: ['P7.role'],
      row: 'P7',
      reason: 'Workspace owner and admins may delete a board that they can see. Their role does not let them see a private board.',
    })
  })
  test('a decision that forbids has the row that was not met', () => {
    expect(shipped.decide('delete Board', insider)).toMatchObject({
      outcome: 'forbidden',
      row: 'P7',
      rules: [],
      reason: expect.stringContaining('P7.creator'),
    })
  })
  test('a decision that hides has the definition that failed', () => {
    expect(shipped.decide('delete Board', outsider)).toMatchObject({
      outcome: 'not_found',
      reason: 'board.access does not hold',
      derived: { 'board.access': false },
    })
  })
  test('a decision can be replayed after a JSON round trip', () => {
    const first = shipped.decide('delete Board', insider)
    const { permission, facts, fields } = JSON.parse(JSON.stringify(first)) as typeof first
    expect(shipped.decide(permission, facts, fields)).toEqual(first)
  })
})

test('an engine is immutable', () => {
  expect(() => Object.assign(shipped, { decide: () => undefined })).toThrow()
  const { rules } = shipped.decide('read Board', insider)
  expect(rules).toEqual(['P2'])
})
