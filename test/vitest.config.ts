import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Builds, installs and starts what the selected suites need, and cleans up after them.
    globalSetup: ['test/setup/global-setup.ts'],
    // Most tests take milliseconds. Crash tests and random histories take seconds, and more on a loaded machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Suites start processes, Redis servers and a browser besides: more workers would compete with those.
    maxWorkers: 2,
  },
})
