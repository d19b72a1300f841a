import { readFileSync, writeFileSync } from 'node:fs'
import { loadPolicy } from '../../src/authz/shipped-policy.ts'
import { createDocument } from '../../src/http/openapi/document.ts'
import { limits } from '../../src/model/limits.ts'
import { packageFile } from '../../src/model/package-files.ts'
import { renderMatrix } from '../../src/policy/matrix.ts'
import { operations } from '../../src/resources/table.ts'
import { renderClientOperations } from './client-operations.ts'
import { recordExamples } from './openapi-examples.ts'
import { insertOperations, renderOperations } from './operations-table.ts'
import { renderRoles } from './roles-table.ts'

/**
 * Writes what follows from the tables: policies/matrix.md, the operations table of src/http/operations.md, the examples of the OpenAPI
 * document, and the types and the table of the client.
 */
export async function main(): Promise<void> {
  const engine = loadPolicy()
  writeFileSync(packageFile('policies/matrix.md'), renderMatrix(engine, operations, renderRoles(engine)))
  const page = packageFile('src/http/operations.md')
  writeFileSync(page, insertOperations(readFileSync(page, 'utf8'), renderOperations(engine, operations)))
  const examples = { operations: {}, errors: {} }
  const document = createDocument({ engine, operations, uploadBytes: limits.uploadBytes, quotas: undefined, examples })
  writeFileSync(packageFile('src/client/operations.ts'), renderClientOperations(document, operations))
  writeFileSync(packageFile('fixtures/openapi-examples.json'), `${JSON.stringify(await recordExamples(), null, 1)}\n`)
  console.log('policies/matrix.md, src/http/operations.md, src/client/operations.ts and fixtures/openapi-examples.json are up to date')
}
