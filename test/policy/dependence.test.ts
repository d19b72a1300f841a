import { expect, test } from 'vitest'
import { dependence } from '../../src/policy/explain.ts'
import { shipped } from '../support/policy.ts'

const { vocabulary } = shipped
const rows = [...vocabulary.permissions.values()].map((permission) => [permission.id, permission] as const)
const KNOWN = [
  { 'token.scope': 'kanban:admin', 'caller.membership': 'active' },
  { 'token.scope': 'kanban:read', 'caller.membership': 'active', 'caller.role': 'member' },
  { 'caller.role': 'owner' },
]

test.each(rows)(
  'the facts that an answer about %s depends on hold in exactly the cells that have this answer',
  (id, { groups, fields }) => {
    const facts = groups.flatMap((group) => vocabulary.groups.get(group)!)
    const field = fields === undefined ? undefined : [fields[0]!]
    for (const known of KNOWN) {
      const answers = dependence(shipped, id, known, field)
      const found = new Set<string>()
      const cells = facts
        .filter(({ name }) => !Object.hasOwn(known, name))
        .reduce<Record<string, string>[]>(
          (all, { name, values }) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
          [known],
        )
      for (const cell of cells) {
        const withScope = Object.hasOwn(known, 'token.scope')
        const expected = withScope && !shipped.checkScope(id, cell).allowed ? 'insufficient_scope' : shipped.decide(id, cell, field).outcome
        const actual = answers.filter(({ cases }) => cases.some((terms) => terms.every(({ fact, values }) => values.includes(cell[fact]!))))
        found.add(expected)
        if (actual.length !== 1 || actual[0]!.answer !== expected) expect({ cell, actual }).toEqual({ cell, actual: expected })
      }
      expect(answers.map(({ answer }) => answer).toSorted()).toEqual([...found].toSorted())
    }
  },
)
