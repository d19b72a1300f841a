import { NO_WORK } from '../../model/claim.ts'
import { maxAttempts } from '../../model/work.ts'
import type { Value } from '../port.ts'
import type { Migration } from './migration.ts'

const max_attempts = maxAttempts.default

/** What the records of each kind get. */
const additions: Readonly<Record<string, Value>> = {
  column: { max_attempts },
  claim: { ...NO_WORK, max_attempts, was_moved: false },
  comment: { kind: 'comment', answers: null },
  readiness: { held: null, not_before: null },
}

/** Version 6. */
export const workOfCards: Migration = {
  number: 6,
  summary: 'columns, claims, comments and the readiness of cards get what the work on cards needs',
  reason: 'attempts of agents are counted, and questions wait for an answer',
  migrate(key, value) {
    const added = additions[key.slice(0, key.indexOf(':'))]
    // What is there stays: this may be applied again.
    return [[key, added === undefined ? value : { ...added, ...value }]]
  },
}
