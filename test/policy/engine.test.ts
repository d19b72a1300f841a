import { createMongoAbility } from '@casl/ability'
import { describe, expect, test } from 'vitest'
import { shipped } from '../support/policy.ts'

const member = { 'caller.membership': 'active', 'caller.role': 'member' }
const outsider = { ...member, 'board.visibility': 'private', 'board.caller': 'none' }
const insider = { ...member, 'board.visibility': 'private', 'board.caller': 'member' }

describe("what CASL's own API would let through", () => {
  // What CASL does, so that one sees why the engine does not hand it out.
  test('asked about a type, CASL ignores conditions', () => {
    const ability = createMongoAbility([{ action: 'update', subject: 'Comment', conditions: { author: 'caller' } }])
    expect(ability.can('update', 'Comment')).toBe(true)
  })
  test('asked without a field, CASL ignores fields', () => {
    const ability = createMongoAbility([{ action: 'update', subject: 'Board', fields: ['name'] }])
    expect(ability.can('update', 'Board')).toBe(true)
  })

  test('the engine takes facts always', () => {
    expect(() => shipped.decide('update Comment', {})).toThrow('fact "caller.membership" is missing')
  })
  test('a missing fact is no answer', () => {
    const { 'board.caller': _gone, ...facts } = insider
    expect(() => shipped.decide('read Board', facts)).toThrow('fact "board.caller" is missing')
  })
  test('an inherited fact is none', () => {
    const facts = Object.assign(Object.create({ 'board.caller': 'creator' }) as object, {
      ...member,
      'board.visibility': 'private',
    }) as never
    expect(() => shipped.decide('read Board', facts)).toThrow('fact "board.caller" is missing')
  })
  test('a value that the vocabulary does not have is no answer', () => {
    expect(() => shipped.decide('read Board', { ...insider, 'board.caller': 'Creator' })).toThrow(
      '"Creator" is no value of fact "board.caller"',
    )
  })
  test('a pair that is not asked is no answer', () => {
    expect(() => shipped.decide('manage all', insider)).toThrow('"manage all" is no pair of the vocabulary')
    expect(() => shipped.checkScope('manage all', { 'token.scope': 'kanban:admin' })).toThrow('is no pair')
  })
  test('where fields are decided, at least one is named, and all must be allowed', () => {
    expect(() => shipped.decide('update Board', insider)).toThrow('none is named')
    expect(() => shipped.decide('update Board', insider, [])).toThrow('none is named')
    expect(() => shipped.decide('update Board', insider, ['nmae'])).toThrow('"nmae" is no field')
    expect(shipped.decide('update Board', insider, ['name', 'description']).outcome).toBe('allowed')
    expect(shipped.decide('update Board', insider, ['name', 'visibility']).outcome).toBe('forbidden')
  })
  test('facts cannot choose the subject, nor say what is derived', () => {
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
  test('says which rule and row allow it, and why', () => {
    expect(shipped.decide('delete Board', { ...insider, 'caller.role': 'admin' })).toEqual({
      outcome: 'allowed',
      pair: 'delete Board',
      fields: undefined,
      facts: { ...insider, 'caller.role': 'admin' },
      derived: { 'board.access': true },
      rule: 'P7.role',
      row: 'P7',
      reason: 'Owner and admins may delete what they can see. They cannot see a private board that they are not on.',
    })
  })
  test('says which row was not met', () => {
    expect(shipped.decide('delete Board', insider)).toMatchObject({
      outcome: 'forbidden',
      row: 'P7',
      rule: undefined,
      reason: expect.stringContaining('P7.creator'),
    })
  })
  test('says what could not be seen', () => {
    expect(shipped.decide('delete Board', outsider)).toMatchObject({
      outcome: 'not_found',
      reason: 'no board.access',
      derived: { 'board.access': false },
    })
  })
  test('can be replayed from what it holds', () => {
    const first = shipped.decide('delete Board', insider)
    const { permission: permission, facts, fields } = JSON.parse(JSON.stringify(first)) as typeof first
    expect(shipped.decide(permission, facts, fields)).toEqual(first)
  })
})

test('tables and rules cannot be changed from outside', () => {
  expect(() => Object.assign(shipped, { decide: () => undefined })).toThrow()
  const { rule } = shipped.decide('read Board', insider)
  expect(rule).toBe('P2')
})
