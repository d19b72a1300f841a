import { writeFileSync } from 'node:fs'
import { shippedEngine } from '../app.ts'
import { operations } from '../resources/table.ts'
import { matrix, matrixRow } from '../resources/matrix.ts'

const path = new URL('../../policies/matrix.md', import.meta.url)
writeFileSync(path, matrix(shippedEngine(), operations.map(matrixRow)))
console.log('policies/matrix.md is written')
