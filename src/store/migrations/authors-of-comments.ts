import type { Migration } from './migration.ts'

/** Version 9. */
export const authorsOfComments: Migration = {
  number: 9,
  summary: 'comments name the token that wrote them',
  reason: 'readers tell the words of an agent from the words of its person',
  // What is there stays: this may be applied again.
  migrate: (key, value) => [[key, key.startsWith('comment:') ? { token_id: null, token_name: null, ...(value as object) } : value]],
}
