import { writeFileSync } from 'node:fs'
import { shippedEngine } from '../app.ts'
import { operations } from '../operations/table.ts'
import { matrix } from '../operations/matrix.ts'

const path = new URL('../../policies/matrix.md', import.meta.url)
const rows = operations.map(({ id, method, path: template, needs }) => ({ id, method, path: template, pair: needs.join(' ') }))
writeFileSync(path, matrix(shippedEngine(), rows))
console.log('policies/matrix.md is written')
