import type { Migration } from './migration.ts'

/**
 * No record changes: the indexes, which are rebuilt after it, have further entries. A card without `completed_by_id` is shown with null.
 * To write the member would change the ETag of every card.
 */
export const completedCards: Migration = {
  number: 4,
  summary: 'adds the indexes of completed cards',
  reason: 'cards.search lists what was completed, by time and by user',
  migrate: (key, value) => [[key, value]],
}
