import { defineConfig } from 'vitest/config'

/** `npm run test:compatibility`: clients that others wrote, against the built service. */
export default defineConfig({
  test: {
    globalSetup: ['test/compatibility/setup.ts'],
    include: ['test/compatibility/**/*.test.ts'],
    // Generators and compilers take long on a loaded machine. Only a test that hangs is to be ended.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Clients patch globals, such as `fetch`.
    isolate: true,
    pool: 'forks',
    maxWorkers: 2,
    // Some clients log every refusal that they meet.
    silent: 'passed-only',
  },
})
