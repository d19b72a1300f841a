import { expect, test } from 'vitest'
import { caslConditions, compile, recordKey } from '../../src/policy/compile.ts'
import type { Rule } from '../../src/policy/rules.ts'

/** A rule that a test can change: what is compiled must not change with it. */
const ruleOf = (change: object = {}): Rule => ({
  id: 'P1',
  row: 'P1',
  action: ['read'],
  subject: ['Board'],
  conditions: { 'board.access': true, 'caller.role': { $in: ['owner', 'admin'] } },
  reason: 'because',
  ...change,
})

test('a fact has no dot in a record, which CASL would take for a path', () => {
  expect(recordKey('board.access')).toBe('board/access')
  const rule = ruleOf()
  const conditions = caslConditions(rule)
  expect(conditions).toEqual({ 'board/access': true, 'caller/role': { $in: ['owner', 'admin'] } })
  expect(conditions['caller/role']).not.toBe(rule.conditions['caller.role'])
})

test('a candidate matches the records that meet all of its conditions, whatever was asked before', () => {
  const [candidate] = compile([ruleOf()])('read', 'Board')
  const records = ['owner', 'admin', 'member', undefined].flatMap((role) =>
    [true, false, undefined].map((access) => ({ 'caller/role': role, 'board/access': access })),
  )
  const expected = [true, false, false, true, false, false, false, false, false, false, false, false]
  for (let i = 0; i < 2; i++) expect(records.map((record) => candidate!.matches(record))).toEqual(expected)
})

test('only rules of the action, the subject and the field are candidates', () => {
  const find = compile([
    ruleOf({ id: 'P1.both', action: ['read', 'delete'], subject: ['Board', 'Card'] }),
    ruleOf({ id: 'P1.name', fields: ['name', 'color'] }),
    ruleOf({ id: 'P1.state', fields: ['state'] }),
  ])
  const ids = (...asked: Parameters<typeof find>) => find(...asked).map(({ rule }) => rule.id)
  expect(ids('delete', 'Card')).toEqual(['P1.both'])
  expect(ids('read', 'Board', 'color').toSorted()).toEqual(['P1.both', 'P1.name'])
  expect(ids('read', 'Board', 'state').toSorted()).toEqual(['P1.both', 'P1.state'])
  expect([ids('write', 'Board'), ids('read', 'Comment'), ids('delete', 'Board', 'name')]).toEqual([[], [], ['P1.both']])
})

test('a compiled rule can be changed neither by who wrote it nor by who reads it', () => {
  const written = ruleOf({ fields: ['name'] })
  const find = compile([written])
  Object.assign(written.conditions, { 'board.access': 'other' })
  ;(written.action as string[])[0] = 'delete'
  const [candidate] = find('read', 'Board', 'name')
  expect(candidate!.rule).toEqual(ruleOf({ fields: ['name'] }))
  expect(candidate!.matches({ 'board/access': true, 'caller/role': 'owner' })).toBe(true)
  const { rule } = candidate!
  const parts = [rule, rule.action, rule.subject, rule.fields, rule.conditions, (rule.conditions['caller.role'] as { $in: unknown }).$in]
  expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true))
})

test('a condition that CASL cannot compile is refused before the first check', () => {
  expect(() => compile([ruleOf({ conditions: { 'board.access': { $in: 'owner' } } })])('read', 'Board')).toThrow(
    '"in" expects value to be an array',
  )
})
