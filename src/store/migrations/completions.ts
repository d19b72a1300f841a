import type { Migration } from './migration.ts'

/** Version 11. */
export const completions: Migration = {
  number: 11,
  summary: 'columns say whether they complete cards; cards say how they were completed, and their id in another system',
  reason: 'a move can complete a card, work can end in failure, and a program finds its cards again',
  migrate(key, value) {
    // What is there stays: this may be applied again.
    if (key.startsWith('column:')) return [[key, { completes: false, ...value }]]
    if (!key.startsWith('card:')) return [[key, value]]
    return [[key, { external_ref: null, outcome: value['completed_at'] === null ? null : 'succeeded', ...value }]]
  },
}
