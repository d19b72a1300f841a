import { expect, test } from 'vitest'
import type { Engine } from '../../src/policy/engine.ts'
import { cells } from '../../src/policy/enumerate.ts'
import type { Facts } from '../../src/policy/evaluate.ts'
import { remembering } from '../../src/policy/remembered.ts'
import { shipped } from '../support/policy.ts'

/** An engine that counts the questions that it gets. */
function counting(): { readonly engine: Engine; readonly asked: () => number } {
  let count = 0
  const counted =
    <Arguments extends unknown[], Answer>(ask: (...given: Arguments) => Answer) =>
    (...given: Arguments): Answer => (count++, ask(...given))
  const { checkScope, decide, holds } = shipped
  const engine = { ...shipped, checkScope: counted(checkScope), decide: counted(decide), holds: counted(holds) }
  return { engine, asked: () => count }
}

const outsider = { 'caller.membership': 'active', 'caller.role': 'member', 'board.visibility': 'private', 'board.caller': 'none' }
const reversed = (facts: Facts): Facts => Object.fromEntries(Object.entries(facts).toReversed())

test('a remembered decision is that of the engine, in every cell and in any order of the facts', () => {
  const { engine, asked } = counting()
  const remembered = remembering(engine)
  const all = [...cells(shipped.vocabulary)].map(
    ({ permission, facts, field }) => [permission.id, facts, field === undefined ? undefined : [field]] as const,
  )
  const expected = all.map((question) => shipped.decide(...question))
  expect(all.map((question) => remembered.decide(...question))).toEqual(expected)
  expect(asked()).toBe(all.length)
  expect(all.map(([id, facts, fields]) => remembered.decide(id, reversed(facts), fields))).toEqual(expected)
  expect(asked()).toBe(all.length)
})

test('a remembered scope and a remembered definition are those of the engine', () => {
  const { engine, asked } = counting()
  const remembered = remembering(engine)
  const { permissions, scopeOrder } = shipped.vocabulary
  const scopes = [...permissions.keys()].flatMap((id) => scopeOrder.values.map((value) => [id, { [scopeOrder.name]: value }] as const))
  const accesses = ['creator', 'member', 'none'].flatMap((caller) =>
    ['workspace', 'private'].map((visibility) => ({ ...outsider, 'board.visibility': visibility, 'board.caller': caller })),
  )
  for (let round = 1; round <= 2; round++) {
    expect(scopes.map((question) => remembered.checkScope(...question))).toEqual(scopes.map((question) => shipped.checkScope(...question)))
    expect(accesses.map((facts) => remembered.holds('board.access', facts))).toEqual([true, true, true, true, true, false])
  }
  expect(asked()).toBe(scopes.length + accesses.length)
})

test('what the engine refuses is refused each time', () => {
  const remembered = remembering(shipped)
  const { 'board.caller': _removed, ...missing } = outsider
  const inherited = Object.assign(Object.create({ 'board.caller': 'creator' }) as object, missing) as Facts
  expect(remembered.decide('read Board', outsider).outcome).toBe('not_found')
  for (let round = 1; round <= 2; round++) {
    expect(() => remembered.decide('read Board', missing)).toThrow('fact "board.caller" is missing')
    expect(() => remembered.decide('read Board', inherited)).toThrow('fact "board.caller" is missing')
    expect(() => remembered.decide('read Board', { ...outsider, 'board.caller': 'owner' })).toThrow('"owner" is not a value')
    expect(() => remembered.decide('manage all', outsider)).toThrow('"manage all" is not a permission')
    expect(() => remembered.decide('update Board', outsider)).toThrow('no field is given')
    expect(() => remembered.decide('update Board', outsider, ['name', 'owner'])).toThrow('"owner" is not a field')
    expect(() => remembered.decide('update Board', outsider, ['name,description'])).toThrow('is not a field')
    expect(() => remembered.holds('board.access', missing)).toThrow('fact "board.caller" is missing')
    expect(() => remembered.holds('constructor', outsider)).toThrow('is not a definition')
    expect(() => remembered.checkScope('read Board', {})).toThrow('is missing')
  }
})

test('facts besides those that are needed stay in the decision, and change no other one', () => {
  const remembered = remembering(shipped)
  expect(remembered.decide('read Board', { ...outsider, 'comment.author': 'other' }).facts).toHaveProperty(['comment.author'], 'other')
  expect(remembered.decide('read Board', outsider)).toEqual(shipped.decide('read Board', outsider))
})

test('a decision without one rule is asked anew', () => {
  const remembered = remembering(shipped)
  const insider = { ...outsider, 'board.caller': 'member' }
  const { rules } = remembered.decide('read Board', insider)
  expect(remembered.decide('read Board', insider, undefined, rules[0])).toEqual(shipped.decide('read Board', insider, undefined, rules[0]))
  expect(remembered.decide('read Board', insider).rules).toEqual(rules)
})

test('a remembered decision cannot be changed, and later changes of what was asked do not change it', () => {
  const remembered = remembering(shipped)
  const [facts, fields]: [Record<string, string>, string[]] = [{ ...outsider, 'board.caller': 'member' }, ['name']]
  const decision = remembered.decide('update Board', facts, fields)
  facts['board.caller'] = 'none'
  fields.push('visibility')
  for (const member of [decision, decision.facts, decision.fields, decision.derived, decision.rules])
    expect(Object.isFrozen(member)).toBe(true)
  expect(remembered.decide('update Board', { ...outsider, 'board.caller': 'member' }, ['name'])).toBe(decision)
  expect([decision.facts['board.caller'], decision.fields]).toEqual(['member', ['name']])
})

test('the number of remembered answers has a limit', () => {
  const { engine, asked } = counting()
  const remembered = remembering(engine, 2)
  const ask = (...fields: string[]) => remembered.decide('update Board', { ...outsider, 'board.caller': 'member' }, fields)
  for (let round = 1; round <= 2; round++)
    for (const field of ['name', 'description', 'cover_color']) expect(ask(field).outcome).toBe('allowed')
  expect(asked()).toBe(4)
})
