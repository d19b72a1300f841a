import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../src/resources/table.ts'
import { renderMatrix, toMatrixRow } from '../../src/resources/matrix.ts'
import { loadEngine } from '../../src/policy/engine.ts'
import { shipped, shippedFiles } from '../support/policy.ts'

test('it shows the fields of each rule, and no text of a rule can break it', () => {
  const text = shippedFiles.permissions.text
    .replace(
      '  - id: P5\n',
      '  - id: P4.more\n    row: P4\n    action: update\n    subject: Board\n    fields: [visibility]\n    conditions: { board.access: true, board.caller: creator }\n    reason: because\n  - id: P5\n',
    )
    .replace('reason: A label belongs to one board.', 'reason: "a | b <!-- c"')
  const engine = loadEngine({ ...shippedFiles, permissions: { ...shippedFiles.permissions, text } })
  const shown = renderMatrix(engine, operations.map(toMatrixRow))
  expect(shown).toContain(
    'name, description, cover_color: **board.access** **or** visibility: **board.access** and board.caller is creator',
  )
  expect(shown).toContain('a \\| b &lt;!-- c')
  expect(shown).not.toContain('b <!--')
})

test('policies/matrix.md is what the tables say', () => {
  const written = readFileSync(new URL('../../policies/matrix.md', import.meta.url), 'utf8')
  expect(written, 'it is stale: read the difference, and if it is what you mean, run "npm run matrix"').toBe(
    renderMatrix(shipped, operations.map(toMatrixRow)),
  )
})
