import type { Migration } from './migration.ts'

/** No record changes: the indexes, which are rebuilt after it, have further entries. */
export const sortedCards: Migration = {
  number: 2,
  summary: 'adds the indexes by which cards are sorted across boards',
  reason: 'cards.search lists the cards of all boards by their times',
  migrate: (key, value) => [[key, value]],
}
