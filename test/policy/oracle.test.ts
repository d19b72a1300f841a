import { describe, expect, test } from 'vitest'
import { cells } from '../../src/policy/enumerate.ts'
import { oracleCells, oracleOperations } from '../support/oracle.ts'
import { agrees, answerOf, shipped } from '../support/policy.ts'

const key = (facts: Readonly<Record<string, string>>, field?: string) =>
  JSON.stringify([...Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1)), field ?? ''])

describe('the tables decide what the oracle says', () => {
  test.each(oracleOperations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
    const wrong = oracleCells(operation)
      .map((cell) => ({ ...cell, answer: answerOf(shipped, operation, cell) }))
      .filter((cell) => !agrees(cell.answer, cell))
    expect(wrong).toEqual([])
  })

  test.each(oracleOperations.map((operation) => [operation.id, operation] as const))('%s requires its scope', (_id, { pair, scope }) => {
    const allowed = ['none', 'kanban:read', 'kanban:write', 'kanban:admin'].filter(
      (value) => shipped.checkScope(pair, { 'token.scope': value }).allowed,
    )
    const least = {
      read: ['kanban:read', 'kanban:write', 'kanban:admin'],
      write: ['kanban:write', 'kanban:admin'],
      admin: ['kanban:admin'],
    }
    expect(allowed).toEqual(least[scope])
    expect(shipped.checkScope(pair, { 'token.scope': 'none' })).toMatchObject({
      required: `kanban:${scope}`,
      row: { read: 'S1', write: 'S2', admin: 'S3' }[scope],
    })
  })

  test('the oracle has an answer for the whole decision space', () => {
    const answered = new Map<string, Set<string>>()
    let count = 0
    for (const operation of oracleOperations) {
      const seen = answered.get(operation.pair) ?? new Set()
      for (const cell of oracleCells(operation)) {
        seen.add(key(cell.facts, cell.field))
        count++
      }
      answered.set(operation.pair, seen)
    }
    let space = 0
    const missing: string[] = []
    for (const { permission: permission, facts, field } of cells(shipped.vocabulary)) {
      space++
      if (!answered.get(permission.id)?.has(key(facts, field))) missing.push(`${permission.id} ${key(facts, field)}`)
    }
    expect(missing).toEqual([])
    // Both ways: what the oracle answers is in the space, so neither lacks a cell that the other has.
    expect([...answered.values()].reduce((sum, seen) => sum + seen.size, 0)).toBe(space)
    console.log(`oracle: ${oracleOperations.length} operations, ${count} hand-written answers expanded, over ${space} cells`)
  })

  test('allowed, each operation is decided by its row', () => {
    for (const operation of oracleOperations) {
      const rows = new Set<string>()
      for (const { facts, field } of oracleCells(operation)) {
        const decision = shipped.decide(operation.pair, facts, field === undefined ? undefined : [field])
        if (decision.outcome === 'allowed') rows.add(decision.row)
      }
      expect([operation.id, ...rows]).toEqual([operation.id, operation.row])
    }
  })
})
