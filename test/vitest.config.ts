import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './setup/longest-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Builds, installs and starts what the selected suites need, and cleans up after them.
    globalSetup: ['test/setup/global-setup.ts'],
    // Only a test that hangs is to be ended. Random histories take half a minute on an idle machine, and ten times as long on a
    // loaded one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Suites start processes, Redis servers and a browser besides, and they often wait for those. One worker more than half of
    // the processors keeps all of them busy.
    maxWorkers: 1 + Math.ceil(availableParallelism() / 2),
    // A worker runs several suites and loads the service only once. Suites share no state in modules.
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
})
