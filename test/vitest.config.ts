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
    // Suites often wait: for processes that they start, for a Redis that is stopped, for a browser. One worker more than processors
    // keeps all of these busy.
    maxWorkers: 1 + availableParallelism(),
    // A worker runs several suites and loads the service only once. Suites share no state in modules.
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
})
