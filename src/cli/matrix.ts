import { writeFileSync } from 'node:fs'
import { shippedEngine } from '../app.ts'
import { operations } from '../operations/table.ts'
import { matrix, matrixRow } from '../operations/matrix.ts'

const path = new URL('../../policies/matrix.md', import.meta.url)
writeFileSync(path, matrix(shippedEngine(), operations.map(matrixRow)))
console.log('policies/matrix.md is written')
