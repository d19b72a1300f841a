import { describe, expect, test } from 'vitest'
import type { Engine } from '../../src/policy/engine.ts'
import { cells } from '../../src/policy/enumerate.ts'
import { readCases } from '../../src/policy/hand-written-cases.ts'
import { pointsOf } from '../../src/policy/points.ts'
import { readSource } from '../../src/policy/source.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  handWrittenWebActions,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import { shipped } from '../support/policy.ts'
import { small, smallFiles } from '../support/small-policy.ts'

const key = (facts: Readonly<Record<string, string>>, field?: string) =>
  JSON.stringify([...Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1)), field ?? ''])

// That the tables agree with what the service reads is proved at every start.
describe('the hand-written decisions', () => {
  test.each([...handWrittenOperations, ...handWrittenWebActions].map((operation) => [operation.id, operation] as const))(
    '%s is read by the service as by the tests',
    (_id, stated) => {
      const {
        id,
        permission,
        row,
        decision,
        also = {},
        method = 'web',
        path = 'app',
        scope,
      } = stated as Partial<HandWrittenOperation> & (typeof handWrittenWebActions)[number]
      const further = Object.entries(also).map(([member, one]) => ({ member, permission: one.permission, row: one.row }))
      expect(shipped.decisions.operations.get(id)).toEqual({ id, method, path, permission, row, also: further })
      const read = shipped.decisions.permissions.get(permission)!
      expect({ scope: read.scope, row: read.row }).toEqual({ scope: scope && `kanban:${scope}`, row })
      const scopeRow = scope && { read: 'S1', write: 'S2', admin: 'S3' }[scope]
      expect(shipped.checkScope(permission, { 'token.scope': 'none' }).row).toBe(scopeRow ?? 'no token')
      const wrong = handWrittenCells({ decision }).filter((cell) => read.lookUp(cell.facts, cell.field).response !== cell.response)
      expect(wrong).toEqual([])
    },
  )

  test('cover exactly the decision space', () => {
    const covered = new Map<string, Set<string>>()
    let count = 0
    for (const operation of [...handWrittenOperations, ...handWrittenWebActions]) {
      const keys = covered.get(operation.permission) ?? new Set()
      for (const cell of handWrittenCells(operation)) {
        keys.add(key(cell.facts, cell.field))
        count++
      }
      covered.set(operation.permission, keys)
    }
    let size = 0
    const missing: string[] = []
    for (const { permission, facts, field } of cells(shipped.vocabulary)) {
      size++
      if (!covered.get(permission.id)?.has(key(facts, field))) missing.push(`${permission.id} ${key(facts, field)}`)
    }
    expect(missing).toEqual([])
    // Every cell of the hand-written decisions is in the decision space too.
    expect([...covered.values()].reduce((sum, keys) => sum + keys.size, 0)).toBe(size)
    console.log(`decisions: ${handWrittenOperations.length} operations, ${count} hand-written answers after expansion, over ${size} cells`)
  })
})

/** The responses to each combination of values, and the names of the cases, in the order of the values. */
function lookUps(engine: Engine, id: string, field?: string): string[] {
  const read = engine.decisions.permissions.get(id)!
  const points = [...pointsOf(engine.vocabulary.permissions.get(id)!.facts)]
  return points.map((facts) => {
    const { response, name } = read.lookUp(facts, field)
    return `${Object.values(facts).join(' ')}: ${response} (${name})`
  })
}

describe('the decisions of a small policy', () => {
  test('an operation has its permission and its further permissions', () => {
    expect([...small().decisions.operations.values()]).toEqual([
      { id: 'boards.read', method: 'GET', path: '/boards', permission: 'read Board', row: 'P1', also: [] },
      { id: 'boards.update', method: 'PATCH', path: '/boards', permission: 'update Board', row: 'P2', also: [] },
      { id: 'boards.delete', method: 'DELETE', path: '/boards', permission: 'delete Board', row: 'P2', also: [] },
      { id: 'comments.read', method: 'GET', path: '/comments', permission: 'read Comment', row: 'P1', also: [] },
      {
        id: 'comments.update',
        method: 'PATCH',
        path: '/comments',
        permission: 'update Comment',
        row: 'P2',
        also: [{ member: 'board', permission: 'read Board', row: 'P1' }],
      },
      { id: 'log.read', method: 'web', path: 'app', permission: 'read Log', row: 'X1', also: [] },
    ])
  })

  test('a permission has the scope and the row of its operations, and a decision for each field', () => {
    const { permissions } = small().decisions
    const stated = [...permissions].map(([id, { scope, row, decisionOf }]) => [
      id,
      scope,
      row,
      decisionOf('name'),
      decisionOf('visibility'),
    ])
    expect(stated).toEqual([
      ['read Board', 's:read', 'P1', 'seen', 'seen'],
      ['update Board', 'write', 'P2', 'seen', 'owned'],
      ['delete Board', 'write', 'P2', 'owned', 'owned'],
      ['read Comment', 's:read', 'P1', 'seen', 'seen'],
      ['update Comment', 'write', 'P2', 'own', 'own'],
      ['read Log', undefined, 'X1', 'owners', 'owners'],
    ])
  })

  test('the cases on both axes have the response', () => {
    expect(lookUps(small(), 'update Board', 'visibility')).toEqual([
      'owner open: ok (seen, owner)',
      'member open: 403 (seen, member)',
      'owner closed: ok (seen, owner)',
      'member closed: 404 (hidden, member)',
    ])
    expect(lookUps(small(), 'update Board', 'name')).toEqual([
      'owner open: ok (seen)',
      'member open: ok (seen)',
      'owner closed: ok (seen)',
      'member closed: 404 (hidden)',
    ])
    expect(lookUps(small(), 'read Log')).toEqual(['owner: ok (owner)', 'member: 403 (member)'])
    expect(lookUps(small(['cases', '  owners: { down: role, owner: ok, member: 403 }', '  owners: 403']), 'read Log')).toEqual([
      'owner: 403 (every case)',
      'member: 403 (every case)',
    ])
  })

  test('a response that is always given precedes all others, if all facts of one rule hold', () => {
    const always =
      'always:\n  - { facts: { caller.role: member, board.visibility: [closed] }, response: 401 }\n' +
      '  - { facts: { comment.author: other, board.visibility: open }, response: 401 }\n'
    expect(lookUps(small(['cases', 'always: []\n', always]), 'update Comment')).toEqual([
      'owner open caller: ok (seen, own)',
      'member open caller: ok (seen, own)',
      'owner closed caller: ok (seen, own)',
      'member closed caller: 401 (always)',
      'owner open other: 401 (always)',
      'member open other: 401 (always)',
      'owner closed other: 403 (seen, foreign)',
      'member closed other: 401 (always)',
    ])
  })

  test('a decision has the groups of the facts on its axes', () => {
    const { cases } = smallFiles()
    const groups = [...readCases(readSource(cases), small().vocabulary)].map(([name, decision]) => [
      name,
      decision.name,
      [...decision.groups],
    ])
    expect(groups).toEqual([
      ['seen', 'seen', ['board', 'caller']],
      ['owned', 'owned', ['board', 'caller']],
      ['own', 'own', ['board', 'caller', 'comment']],
      ['owners', 'owners', ['caller']],
    ])
  })
})
