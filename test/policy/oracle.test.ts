import { describe, expect, test } from 'vitest'
import { cells } from '../../src/policy/enumerate.ts'
import { oracleCells, oracleOperations, oracleWebActions } from '../support/oracle.ts'
import { decideCell, isExpected, shipped, toGridOutcome } from '../support/policy.ts'

const key = (facts: Readonly<Record<string, string>>, field?: string) =>
  JSON.stringify([...Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1)), field ?? ''])

describe('the tables agree with the oracle', () => {
  test.each([...oracleOperations, ...oracleWebActions].map((operation) => [operation.id, operation] as const))(
    '%s has the decision of the oracle in every cell',
    (_id, operation) => {
      const wrong = oracleCells(operation)
        .map((cell) => ({ cell, decision: decideCell(shipped, operation.permission, cell) }))
        .filter(({ cell, decision }) => !isExpected(decision, cell))
        .map(({ cell, decision }) => ({ ...cell, decided: toGridOutcome(decision) }))
      expect(wrong).toEqual([])
    },
  )

  test.each(oracleOperations.map((operation) => [operation.id, operation] as const))(
    '%s requires the scope of the oracle',
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

  test.each(oracleWebActions)('$id, an action of the web app, is allowed with no scope', ({ id, permission, row, grid }) => {
    for (const value of ['none', 'kanban:read', 'kanban:write', 'kanban:admin'])
      expect(shipped.checkScope(permission, { 'token.scope': value }).allowed).toBe(false)
    expect(shipped.expected.webActions.get(id)).toEqual({ id, permission, row })
    const expected = shipped.expected.permissions.get(permission)!
    expect(expected.scope).toBeUndefined()
    expect(oracleCells({ grid }).filter((cell) => expected.lookUp(cell.facts, cell.field).response !== cell.expected)).toEqual([])
  })

  test('the oracle covers exactly the decision space', () => {
    const covered = new Map<string, Set<string>>()
    let count = 0
    for (const operation of [...oracleOperations, ...oracleWebActions]) {
      const keys = covered.get(operation.permission) ?? new Set()
      for (const cell of oracleCells(operation)) {
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
    // Every cell of the oracle is in the decision space too.
    expect([...covered.values()].reduce((sum, keys) => sum + keys.size, 0)).toBe(size)
    console.log(`oracle: ${oracleOperations.length} operations, ${count} hand-written answers after expansion, over ${size} cells`)
  })

  test('the service reads the oracle as the tests do', () => {
    for (const { id, permission, grid, scope, row, also, ...operation } of oracleOperations) {
      const expected = shipped.expected.permissions.get(permission)!
      expect({ id, ...expected }).toMatchObject({ id, scope: `kanban:${scope}`, row })
      const { method, path } = operation
      expect(shipped.expected.operations.get(id)).toMatchObject({ id, method, path, permission, row })
      const further = Object.entries(also).map(([member, one]) => [member, { permission: one.permission, row: one.row }] as const)
      expect(shipped.expected.operations.get(id)!.also).toEqual(new Map(further))
      const wrong = oracleCells({ grid }).filter((cell) => expected.lookUp(cell.facts, cell.field).response !== cell.expected)
      expect(wrong).toEqual([])
    }
  })

  test('every cell that is allowed is decided by the row of its operation', () => {
    for (const operation of [...oracleOperations, ...oracleWebActions]) {
      const rows = new Set<string>()
      for (const cell of oracleCells(operation)) {
        const decision = decideCell(shipped, operation.permission, cell)
        if (decision.outcome === 'allowed') rows.add(decision.row)
      }
      expect([operation.id, ...rows]).toEqual([operation.id, operation.row])
    }
  })
})
