import { describe, expect, test } from 'vitest'
import { cells } from '../../src/policy/enumerate.ts'
import {
  handWrittenCells,
  handWrittenOperations,
  handWrittenWebActions,
  type HandWrittenOperation,
} from '../support/hand-written-decisions.ts'
import { shipped } from '../support/policy.ts'

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
      expect([read.scope, read.row]).toEqual([scope && `kanban:${scope}`, row])
      const scopeRow = scope && { read: 'S1', write: 'S2', admin: 'S3' }[scope]
      expect(shipped.checkScope(permission, { 'token.scope': 'none' }).row).toBe(scopeRow ?? 'no token')
      const wrong = handWrittenCells({ decision }).filter((cell) => read.lookUp(cell.facts, cell.field).response !== cell.response)
      expect(wrong).toEqual([])
    },
  )

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
})
