import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderClientOperations } from '../generate/client-operations.ts'
import { insertOperations, renderOperations } from '../generate/operations-table.ts'
import { createDocument } from '../../src/http/openapi/document.ts'
import { limits } from '../../src/model/limits.ts'
import { operations } from '../../src/resources/table.ts'
import { shipped } from '../support/policy.ts'

const markers = { start: '<!-- operations:start -->', end: '<!-- operations:end -->' }

test('src/http/operations.md contains the current operations table', () => {
  const page = readFileSync(new URL('../../src/http/operations.md', import.meta.url), 'utf8')
  expect(page, 'the table is stale: read the difference, and if it is intended, run "npm run matrix"').toBe(
    insertOperations(page, renderOperations(shipped, operations)),
  )
})

test('src/client/operations.ts has the current operations and types', () => {
  const { uploadBytes } = limits
  const document = createDocument({ engine: shipped, operations, uploadBytes, quotas: undefined })
  expect(
    readFileSync(new URL('../../src/client/operations.ts', import.meta.url), 'utf8'),
    'it is stale: read the difference, and if it is intended, run "npm run matrix"',
  ).toBe(renderClientOperations(document, operations))
})

test.each([
  ['no end marker', markers.start],
  ['markers in the wrong order', `${markers.end}${markers.start}`],
  ['two tables', `${markers.start}${markers.end}${markers.start}${markers.end}`],
])('a page with %s is refused', (_case, page) => {
  expect(() => insertOperations(page, 'new')).toThrow('src/http/operations.md must contain')
})
