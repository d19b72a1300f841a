import { readFileSync, writeFileSync } from 'node:fs'
import { shippedEngine } from '../app.ts'
import { renderMatrix } from '../resources/matrix.ts'
import { operations } from '../resources/table.ts'
import { recordExamples } from './openapi-examples.ts'
import { insertOperations, renderOperations } from './operations-table.ts'

// Generates the documents that follow from the tables: policies/matrix.md, the operations table of README.md, and the examples of
// the OpenAPI document.
const engine = shippedEngine()
const fileOf = (path: string): URL => new URL(`../../${path}`, import.meta.url)

writeFileSync(fileOf('policies/matrix.md'), renderMatrix(engine, operations))
const readme = readFileSync(fileOf('README.md'), 'utf8')
writeFileSync(fileOf('README.md'), insertOperations(readme, renderOperations(engine, operations)))
writeFileSync(fileOf('fixtures/openapi-examples.json'), `${JSON.stringify(await recordExamples(), null, 1)}\n`)
console.log('policies/matrix.md, README.md and fixtures/openapi-examples.json are up to date')
