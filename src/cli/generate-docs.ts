import { readFileSync, writeFileSync } from 'node:fs'
import { loadPolicy } from '../authz/shipped-policy.ts'
import { createDocument } from '../http/openapi/document.ts'
import { limits } from '../model/limits.ts'
import { packageFile } from '../model/package-files.ts'
import { renderMatrix } from '../policy/matrix.ts'
import { operations } from '../resources/table.ts'
import { renderClientOperations } from './client-operations.ts'
import { recordExamples } from './openapi-examples.ts'
import { insertOperations, renderOperations } from './operations-table.ts'

// Generates what follows from the tables: policies/matrix.md, the operations table of src/http/operations.md, the examples of the OpenAPI document,
// and the types and the table of the client.
const engine = loadPolicy()

writeFileSync(packageFile('policies/matrix.md'), renderMatrix(engine, operations))
const page = packageFile('src/http/operations.md')
writeFileSync(page, insertOperations(readFileSync(page, 'utf8'), renderOperations(engine, operations)))
const { uploadBytes } = limits
const document = createDocument({
  engine,
  operations,
  uploadBytes,
  quotas: undefined,
  origin: undefined,
  examples: { operations: {}, errors: {} },
})
writeFileSync(packageFile('src/client/operations.ts'), renderClientOperations(document, operations))
const examples = await recordExamples()
writeFileSync(packageFile('fixtures/openapi-examples.json'), `${JSON.stringify(examples, null, 1)}\n`)
console.log('policies/matrix.md, src/http/operations.md, src/client/operations.ts and fixtures/openapi-examples.json are up to date')
