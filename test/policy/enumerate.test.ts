import { describe, expect, test } from 'vitest'
import { answersOf, answerTo, cells, dimensionsOf } from '../../src/policy/enumerate.ts'
import { small } from '../support/small-policy.ts'

const open = { 'caller.role': 'member', 'board.visibility': 'open' }
const closed = { 'caller.role': 'member', 'board.visibility': 'closed' }

test('the decision space has a cell for each field and each combination of values', () => {
  const found = [...cells(small().vocabulary)].map(({ permission, facts, field, fields }) => [
    permission.id,
    Object.values(facts),
    field,
    fields,
  ])
  expect(found.slice(0, 6)).toEqual([
    ['read Board', ['owner', 'open'], undefined, undefined],
    ['read Board', ['member', 'open'], undefined, undefined],
    ['read Board', ['owner', 'closed'], undefined, undefined],
    ['read Board', ['member', 'closed'], undefined, undefined],
    ['update Board', ['owner', 'open'], 'visibility', ['visibility']],
    ['update Board', ['owner', 'open'], 'name', ['name']],
  ])
  expect(found).toHaveLength(34)
})

test('the scope table answers first, if the facts have the scope', () => {
  expect([
    answerTo(small(), 'read Board', open),
    answerTo(small(), 'read Board', { ...open, 'token.scope': 'none' }),
    answerTo(small(), 'read Board', { ...open, 'token.scope': 's:read' }),
    answerTo(small(), 'read Board', { ...closed, 'token.scope': 'none' }),
    answerTo(small(), 'read Board', closed),
    answerTo(small(), 'update Board', open, ['visibility']),
  ]).toEqual(['allowed', 'insufficient_scope', 'allowed', 'insufficient_scope', 'not_found', 'forbidden'])
})

test('a permission is decided on its scope, its facts and its field', () => {
  const { vocabulary } = small()
  const scope = ['token.scope', ['none', 's:read', 'write']]
  const ofBoard = [
    ['caller.role', ['owner', 'member']],
    ['board.visibility', ['open', 'closed']],
  ]
  const dimensions = (id: string) => dimensionsOf(vocabulary, id).map(({ name, values }) => [name, values])
  expect(dimensions('read Board')).toEqual([scope, ...ofBoard])
  expect(dimensions('update Board')).toEqual([scope, ...ofBoard, ['field', ['visibility', 'name']]])
  expect(dimensions('read Log')).toEqual([['token.scope', ['web_app']], ofBoard[0]])
  expect(dimensions('peek Board')).toEqual([])
})

describe('the answer in a point of both tables', () => {
  test.each([
    ['read Board', { ...open, 'token.scope': 'write' }, 'allowed'],
    ['read Board', { ...closed, 'token.scope': 'write' }, 'not_found'],
    ['read Board', { ...open, 'token.scope': 'none' }, 'insufficient_scope'],
    ['read Board', { ...open, 'token.scope': 'web_app' }, 'absent'],
    ['read Board', { ...open, 'token.scope': 'write', 'board.visibility': 'hidden' }, 'absent'],
    ['update Board', { ...open, 'token.scope': 'write', field: 'name' }, 'allowed'],
    ['update Board', { ...open, 'token.scope': 'write', field: 'visibility' }, 'forbidden'],
    ['update Board', { ...open, 'token.scope': 'write', field: 'color' }, 'absent'],
    ['read Log', { 'caller.role': 'owner', 'token.scope': 'web_app' }, 'allowed'],
    ['read Log', { 'caller.role': 'member', 'token.scope': 'web_app' }, 'forbidden'],
    ['read Log', { 'caller.role': 'owner', 'token.scope': 'write' }, 'absent'],
    ['peek Board', { ...open, 'token.scope': 'write' }, 'absent'],
  ])('%s with %o is %s', (id, point, answer) => {
    expect(answersOf(small(), id)(point)).toBe(answer)
  })
})
