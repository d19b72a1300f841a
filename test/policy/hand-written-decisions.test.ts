import { describe, expect, test } from 'vitest'
import { cells } from '../../src/policy/enumerate.ts'
import { handWrittenCells, handWrittenOperations, handWrittenWebActions } from '../support/hand-written-decisions.ts'
import { decideCell, agrees, shipped, toResponse } from '../support/policy.ts'

const key = (facts: Readonly<Record<string, string>>, field?: string) =>
  JSON.stringify([...Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1)), field ?? ''])

describe('the tables agree with the hand-written decisions', () => {
  test.each([...handWrittenOperations, ...handWrittenWebActions].map((operation) => [operation.id, operation] as const))(
    '%s has the hand-written decision in every cell',
    (_id, operation) => {
      const wrong = handWrittenCells(operation)
        .map((cell) => ({ cell, decision: decideCell(shipped, operation.permission, cell) }))
        .filter(({ cell, decision }) => !agrees(decision, cell))
        .map(({ cell, decision }) => ({ ...cell, decided: toResponse(decision) }))
      expect(wrong).toEqual([])
    },
  )

  test.each(handWrittenOperations.map((operation) => [operation.id, operation] as const))(
    '%s requires the scope of the hand-written decisions',
    (_id, { permission, scope }) => {
      const allowed = ['none', 'kanban:read', 'kanban:write', 'kanban:admin'].filter(
        (value) => shipped.checkScope(permission, { 'token.scope': value }).allowed,
      )
      const expected = {
        read: ['kanban:read', 'kanban:write', 'kanban:admin'],
        write: ['kanban:write', 'kanban:admin'],
        admin: ['kanban:admin'],
      }
      expect(allowed).toEqual(expected[scope])
      expect(shipped.checkScope(permission, { 'token.scope': 'none' })).toMatchObject({
        required: `kanban:${scope}`,
        row: { read: 'S1', write: 'S2', admin: 'S3' }[scope],
      })
    },
  )

  test.each(handWrittenWebActions)('$id, an action of the web app, is allowed with no scope', ({ id, permission, row, decision }) => {
    for (const value of ['none', 'kanban:read', 'kanban:write', 'kanban:admin'])
      expect(shipped.checkScope(permission, { 'token.scope': value }).allowed).toBe(false)
    expect(shipped.decisions.webActions.get(id)).toEqual({ id, permission, row })
    const expected = shipped.decisions.permissions.get(permission)!
    expect(expected.scope).toBeUndefined()
    expect(handWrittenCells({ decision }).filter((cell) => expected.lookUp(cell.facts, cell.field).response !== cell.response)).toEqual([])
  })

  test('the hand-written decisions cover exactly the decision space', () => {
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

  test('the service reads the hand-written decisions as the tests do', () => {
    for (const { id, permission, decision, scope, row, also, ...operation } of handWrittenOperations) {
      const expected = shipped.decisions.permissions.get(permission)!
      expect({ id, ...expected }).toMatchObject({ id, scope: `kanban:${scope}`, row })
      const { method, path } = operation
      expect(shipped.decisions.operations.get(id)).toMatchObject({ id, method, path, permission, row })
      const further = Object.entries(also).map(([member, one]) => [member, { permission: one.permission, row: one.row }] as const)
      expect(shipped.decisions.operations.get(id)!.also).toEqual(new Map(further))
      const wrong = handWrittenCells({ decision }).filter((cell) => expected.lookUp(cell.facts, cell.field).response !== cell.response)
      expect(wrong).toEqual([])
    }
  })

  test('every cell that is allowed is decided by the row of its operation', () => {
    for (const operation of [...handWrittenOperations, ...handWrittenWebActions]) {
      const rows = new Set<string>()
      for (const cell of handWrittenCells(operation)) {
        const decision = decideCell(shipped, operation.permission, cell)
        if (decision.outcome === 'allowed') rows.add(decision.row)
      }
      expect([operation.id, ...rows]).toEqual([operation.id, operation.row])
    }
  })
})
