import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './setup/longest-first.ts'
import { suitesOfTiers } from './setup/tiers.ts'
import { timeLimit } from './support/effort.ts'
import { TIERS } from './support/tier.ts'

const suites = suitesOfTiers()

export const suiteOptions = {
  // Only a test that hangs is to be ended. Random histories take half a minute on an idle machine, and ten times as long on a
  // loaded one.
  testTimeout: timeLimit(600_000),
  hookTimeout: 600_000,
  // No measure of speed either: by default, what is polled for must come within a second.
  expect: { poll: { timeout: 60_000 } },
  // A worker runs several suites and loads the service only once. Suites share no state in modules.
  isolate: false,
}

export default defineConfig({
  test: {
    // Builds, installs and starts what the selected suites need, and cleans up after them.
    globalSetup: ['test/setup/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    projects: TIERS.map((tier) => ({
      test: {
        name: tier,
        include: [...suites[tier]],
        env: { LANEKEEPER_TIER: tier },
        // Outside of the quick tier, suites often wait: for processes that they start, for a Redis that is stopped, for a browser. One
        // worker more than processors keeps all of these busy. In the quick tier it would only load the service once more.
        maxWorkers: availableParallelism() + (tier === 'quick' ? 0 : 1),
        // Projects with different numbers of workers run one after the other.
        sequence: { groupOrder: tier === 'quick' ? 1 : 0 },
        ...suiteOptions,
      },
    })),
  },
})
