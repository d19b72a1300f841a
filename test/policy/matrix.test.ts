import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { renderMatrix } from '../../src/policy/matrix.ts'
import { renderRoles } from '../generate/roles-table.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'

test('the matrix shows the fields of each rule and escapes its reason', () => {
  const text = shippedFiles.permissions.text
    .replace(
      '  - id: P5\n',
      '  - id: P4.more\n    row: P4\n    action: update\n    subject: Board\n    fields: [visibility]\n    conditions: { board.access: true, board.caller: creator }\n    reason: because\n  - id: P5\n',
    )
    .replace('reason: A label belongs to one board.', 'reason: "a | b <!-- c"')
  const engine = load({ ...shippedFiles, permissions: { ...shippedFiles.permissions, text } })
  const matrix = renderMatrix(engine, operations)
  expect(matrix).toContain(
    'name, description, cover_color: **board.access** **or** visibility: **board.access** and board.caller is creator',
  )
  expect(matrix).toContain('a \\| b &lt;!-- c')
  expect(matrix).not.toContain('b <!--')
})

test('the matrix shows the further decisions about the items of a body', () => {
  expect(renderMatrix(shipped, operations)).toContain(
    '| `cards.create` | each of `assignee_ids` | assign Card | kanban:write (S2) | **board.access** and **user.belongs** | P12 | board.access, user.belongs |',
  )
})

test('policies/matrix.md is up to date', () => {
  const committed = readFileSync(new URL('../../policies/matrix.md', import.meta.url), 'utf8')
  expect(committed, 'review the difference; if it is intended, run "npm run matrix"').toBe(
    renderMatrix(shipped, operations, renderRoles(shipped)),
  )
})

test('the page of roles follows the tables: a rule for others changes the answers', () => {
  const row = (engine: typeof shipped, action: string) => renderRoles(engine).find((line) => line.includes(action))
  expect(row(shipped, 'board**: set visibility')).toBe(
    '| **board**: set visibility; **board member**: remove | kanban:admin | yes | no | no | no | 404 | 404 |',
  )
  const text = shippedFiles.permissions.text.replace(/(  - id: P7\.role\n[\s\S]*?caller\.role: )\{ \$in: \[owner, admin\] \}/, '$1member')
  const engine = load({ ...shippedFiles, permissions: { ...shippedFiles.permissions, text } })
  expect(row(shipped, 'board**: delete |')).toBe('| **board**: delete | kanban:admin | yes | no | no | yes | 404 | 404 |')
  expect(row(engine, 'board**: delete |')).toBe('| **board**: delete | kanban:admin | yes | yes | yes | no | 404 | 404 |')
})
