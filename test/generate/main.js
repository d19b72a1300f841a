// Starts documents.ts, as test/mutation/main.js starts its program: the oldest supported Node version cannot run TypeScript.
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'

const root = fileURLToPath(new URL('../..', import.meta.url))
const loader = await createVitest('test', { root, config: false, watch: false, reporters: [{}] }, { logLevel: 'error' })
const { writeDocuments } = await loader.import(fileURLToPath(new URL('documents.ts', import.meta.url)))
await writeDocuments()
process.exit()
