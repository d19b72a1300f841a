import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../src/operations/table.ts'
import { matrix } from '../../src/operations/matrix.ts'
import { shipped } from '../support/policy.ts'

test('policies/matrix.md is what the tables say', () => {
  const rows = operations.map(({ id, method, path, needs }) => ({ id, method, path, pair: needs.join(' ') }))
  const written = readFileSync(new URL('../../policies/matrix.md', import.meta.url), 'utf8')
  expect(written, 'it is stale: read the difference, and if it is what you mean, run "npm run matrix"').toBe(matrix(shipped, rows))
})
