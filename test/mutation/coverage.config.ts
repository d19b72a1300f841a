import { defineConfig, mergeConfig } from 'vitest/config'
import base, { suiteOptions } from '../vitest.config.ts'
import { subjects } from './map.ts'

/** Suites that stop or move servers: too slow to run for each mutant. */
const SLOW = ['redis-cluster', 'redis-reshard', 'redis-outage'].map((name) => `test/store/${name}.test.ts`)

/** Branch coverage of the files of the map, by the suites of the map and a few more. `npm run coverage` uses it. */
export default mergeConfig(
  { ...base, test: { ...base.test, ...suiteOptions, projects: undefined, include: [] } },
  defineConfig({
    test: {
      include: [...new Set([...subjects.flatMap(({ suites }) => suites), ...SLOW])],
      coverage: {
        enabled: true,
        provider: 'v8',
        include: subjects.map(({ path }) => path),
        reporter: ['text'],
        thresholds: { perFile: true, branches: 95 },
      },
    },
  }),
)
