// Starts command-line.ts. Written in JavaScript, because the oldest supported Node version cannot run TypeScript: vitest, which can
// load it, is a development dependency already.
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'

const root = fileURLToPath(new URL('../..', import.meta.url))
const loader = await createVitest('test', { root, config: false, watch: false, reporters: [{}] }, { logLevel: 'error' })
const { main } = await loader.import(fileURLToPath(new URL('command-line.ts', import.meta.url)))
const exitCode = await main(root, process.argv.slice(2))
// vitest sets the exit code of its process to 1 when a test fails. Here a failing test is a killed mutant.
process.stdout.write('', () => process.exit(exitCode))
