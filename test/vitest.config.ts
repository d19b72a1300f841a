import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Builds `dist`, checks that Redis and Chromium are installed, and starts the Redis that the suites share.
    globalSetup: ['test/support/build.ts'],
    // Most tests take milliseconds. Crash tests and random histories take seconds, and more on a loaded machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Suites start processes, Redis servers and a browser besides: more workers would compete with those.
    maxWorkers: 2,
  },
})
