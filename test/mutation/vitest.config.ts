import { env } from 'node:process'
import { defineConfig } from 'vitest/config'
import { suitesOfTiers } from '../setup/tiers.ts'
import { suiteOptions } from '../vitest.config.ts'
import { LUA_BUGS, SCRIPTS } from './lua-bugs.ts'

const suites = suitesOfTiers()
/** The number of a planted bug; -1 for the suites of all of them without one. */
const bug = env['LANEKEEPER_LUA_BUG']
const planted = LUA_BUGS[Number(bug)]

/**
 * The suites that judge mutants: the quick tier. Stryker finds by their coverage which tests reach a mutant. A bug that is planted in a Lua
 * script is judged by all suites that it names.
 */
export default defineConfig({
  plugins: [
    {
      name: 'planted-lua-bug',
      enforce: 'pre',
      transform: (text, id) =>
        planted !== undefined && id.endsWith(SCRIPTS) ? text.replace(planted.text, () => planted.replacement) : undefined,
    },
  ],
  test: {
    ...suiteOptions,
    include: bug === undefined ? [...suites.quick] : [...suites.quick, ...suites.full],
    env: { LANEKEEPER_TIER: bug === undefined ? 'quick' : 'full' },
    globalSetup: ['test/setup/global-setup.ts'],
  },
})
