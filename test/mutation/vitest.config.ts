import { env } from 'node:process'
import { defineConfig } from 'vitest/config'
import { suitesOfTiers } from '../setup/tiers.ts'
import { suiteOptions } from '../vitest.config.ts'
import { keepThread } from './kept-thread.ts'
import { LUA_BUGS, SCRIPTS } from './lua-bugs.ts'
import { closestFirst } from './closest-first.ts'
import { judgingSuites } from './suites.ts'

/** The files that Stryker changes. */
const files = env['LANEKEEPER_MUTATED']
/** The number of a planted bug in a script; -1 for the suites of all of them without one. */
const planted = LUA_BUGS[Number(env['LANEKEEPER_LUA_BUG'])]

/** The suites that judge mutants, or planted bugs in scripts: these name their suites. */
export default defineConfig({
  plugins: [
    { name: 'kept-thread', configureVitest: ({ project }) => (env['LANEKEEPER_FRESH'] === undefined ? keepThread(project) : undefined) },
    {
      name: 'planted-lua-bug',
      enforce: 'pre',
      transform: (text, id) =>
        planted !== undefined && SCRIPTS.some((path) => id.endsWith(path))
          ? text.replace(planted.text, () => planted.replacement)
          : undefined,
    },
  ],
  test: {
    ...suiteOptions,
    // Many mutants make a test wait for good. Each ends after this time, and not by the end of its process, which Stryker would start anew.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    include: files === undefined ? Object.values(suitesOfTiers()).flat() : judgingSuites(files.split(',')),
    env: { LANEKEEPER_TIER: files === undefined ? 'full' : 'quick' },
    runner: 'test/mutation/first-failure.ts',
    globalSetup: ['test/setup/global-setup.ts'],
    sequence: { sequencer: closestFirst(files?.split(',') ?? []) },
  },
})
