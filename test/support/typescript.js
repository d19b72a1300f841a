// Runs the `main` of a TypeScript file with the arguments, and ends with its exit code. Written in JavaScript, because the oldest supported
// Node version cannot run TypeScript: vitest, which can load it, is a development dependency already.
import { resolve } from 'node:path'
import { createVitest } from 'vitest/node'

const [file, ...args] = process.argv.slice(2)
const loader = await createVitest('test', { config: false, watch: false, reporters: [{}] }, { logLevel: 'error' })
const { main } = await loader.import(resolve(file))
const exitCode = await main(args)
// The output must be written before the process ends.
process.stdout.write('', () => process.exit(exitCode))
