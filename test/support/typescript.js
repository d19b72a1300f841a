// Runs the `main` of a TypeScript file with the arguments, and ends with its exit code. Written in JavaScript, because the oldest supported
// Node version cannot run TypeScript: vitest, which can load it, is a development dependency already.
import { resolve } from 'node:path'
import { createVitest } from 'vitest/node'

const [file, ...args] = process.argv.slice(2)
const loader = await createVitest('test', { config: false, watch: false, reporters: [{}] }, { logLevel: 'error' })
const { main } = await loader.import(resolve(file))
const exitCode = await main(args)
// vitest sets the exit code of its process to 1 when a test fails. In a mutation run, a failing test is a killed mutant.
process.stdout.write('', () => process.exit(exitCode))
