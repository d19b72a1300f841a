import type { Migration } from './migration.ts'

/** Version 7. No record changes: after a migration, the indexes are made again. */
export const activeTokens: Migration = {
  number: 7,
  summary: 'the active tokens of each person get an index of their own',
  reason: 'whoever rotates a token thousands of times made each look at their tokens as long',
  migrate: (key, value) => [[key, value]],
}
