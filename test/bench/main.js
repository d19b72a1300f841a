// Starts command-line.ts, as ../mutation/main.js does.
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'

const root = fileURLToPath(new URL('../..', import.meta.url))
const loader = await createVitest('test', { root, config: false, watch: false, reporters: [{}] }, { logLevel: 'error' })
const { main } = await loader.import(fileURLToPath(new URL('command-line.ts', import.meta.url)))
const exitCode = await main(process.argv.slice(2))
process.stdout.write('', () => process.exit(exitCode))
