import type { Migration } from './migration.ts'

/** Version 8. No record changes: after a migration, the indexes are made again. */
export const webhookCounts: Migration = {
  number: 8,
  summary: 'webhooks are counted by person and by workspace',
  reason: 'a person has at most 100 webhooks in a workspace, and a workspace 1,000',
  migrate: (key, value) => [[key, value]],
}
