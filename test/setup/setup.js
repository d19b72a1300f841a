// `npm run setup`: installs what the suites need beforehand. JavaScript, because the oldest supported Node.js version cannot run
// TypeScript. Vitest can.
import { relative } from 'node:path'
import { createVitest } from 'vitest/node'

const vitest = await createVitest('test', { config: 'test/vitest.config.ts', watch: false })
const { findNeeds } = await vitest.import('./test/setup/needs.ts')
const { installNeeds } = await vitest.import('./test/setup/install.ts')
const suites = await vitest.globTestSpecifications()
const { missing } = await installNeeds(findNeeds(suites.map(({ moduleId }) => relative(vitest.config.root, moduleId))))
if (missing.length === 0) console.log('setup: redis-server, a browser, nginx and Caddy are installed.')
else process.exitCode = 1
await vitest.close()
