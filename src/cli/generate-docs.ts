import { readFileSync, writeFileSync } from 'node:fs'
import { shippedEngine } from '../app.ts'
import { renderMatrix } from '../resources/matrix.ts'
import { operations } from '../resources/table.ts'
import { insertOperations, renderOperations } from './operations-table.ts'

// Generates the documents that follow from the tables: policies/matrix.md and the operations table of README.md.
const engine = shippedEngine()
const fileOf = (path: string): URL => new URL(`../../${path}`, import.meta.url)

writeFileSync(fileOf('policies/matrix.md'), renderMatrix(engine, operations))
const readme = readFileSync(fileOf('README.md'), 'utf8')
writeFileSync(fileOf('README.md'), insertOperations(readme, renderOperations(engine, operations)))
console.log('policies/matrix.md and README.md are up to date')
