import { writeFileSync } from 'node:fs'
import { shippedEngine } from '../app.ts'
import { operations } from '../resources/table.ts'
import { renderMatrix, toMatrixRow } from '../resources/matrix.ts'

const path = new URL('../../policies/matrix.md', import.meta.url)
writeFileSync(path, renderMatrix(shippedEngine(), operations.map(toMatrixRow)))
console.log('policies/matrix.md is written')
