import { z } from 'zod'
import { countField, documented, idField, timeField } from './fields.ts'
import { limits } from './limits.ts'
import { prose } from './text.ts'

/** The state of the work on a card: the first of these that holds (src/http/claims.md, "Work that fails or asks"). */
export const workStates = ['done', 'archived', 'claimed', 'waiting', 'stuck', 'blocked', 'retrying', 'ready'] as const
export type WorkState = (typeof workStates)[number]

/** The work on a card, as the API returns it. */
export const work = documented(
  z.strictObject({
    state: documented(z.enum(workStates), {
      description:
        'The first that holds of `done` (completed), `archived`, `claimed`, `waiting` (a question has no answer), `stuck` (as many attempts in a row as the column allows), `blocked` (a blocker is open), `retrying` (`not_before` is in the future), `ready`.',
    }),
    attempts: countField('How many attempts in a row ended without success: failures, and claims that ran out.', Number.MAX_SAFE_INTEGER),
    reason: documented(prose(limits.workText), {
      description: 'Why the last attempt failed; null if its claim expired, or if no attempt failed.',
    }).nullable(),
    failed_at: timeField('When the last attempt failed; null if none has.').nullable(),
    not_before: timeField('When the card may be tried again; null if it waits for no time.').nullable(),
    question_id: idField('comment', 'The question that waits for an answer, a comment on the card; null if no question waits.').nullable(),
  }),
  { id: 'Work', description: 'The state of the work on a card. It is not part of the card: no ETag covers it.' },
)
export type Work = Readonly<z.infer<typeof work>>

/** Seconds before a card is tried again after it has failed: `first` after the first attempt, twice as many after each further one. */
export const retrySeconds = { first: 30, most: 3_600, longestGiven: 86_400 } as const

/** How many attempts in a row a column allows. */
export const maxAttempts = { least: 1, most: 100, default: 5 } as const
