import { z } from 'zod'
import { timestamp, countField, documented, hash, idOf, idField, amount, timeField } from './fields.ts'
import { limits } from './limits.ts'
import { prose } from './text.ts'
import { tokenNameField } from './token.ts'
import { maxAttempts } from './work.ts'

/** The claim of a card, as the API returns it. */
export const claim = documented(
  z.strictObject({
    card_id: idField('card', 'The claimed card.'),
    holder_id: idField('user', 'The user whose token holds the claim.'),
    token_id: idField('token', 'The token that holds the claim. When it is rotated, its successor does.'),
    token_name: tokenNameField('The name of that token, which its person gave it.'),
    epoch: countField(
      'The number of the claim: each new claim of the card has the next one. Send it as `If-Claim`.',
      Number.MAX_SAFE_INTEGER,
    ),
    expires_at: timeField('When the claim runs out, by the clock of the service, unless it is renewed.'),
    claimed_at: timeField('When its holder took the card: a renewal leaves it as it is.'),
    renewed_at: timeField('When it was taken or last renewed.'),
  }),
  { id: 'Claim', description: 'Who works on a card, and until when. Its holder is a token.' },
)
export type Claim = Readonly<z.infer<typeof claim>>

/** A release of a card: until a time, or until the card changes, it is not offered to the family of tokens that has released it. */
const release = z.strictObject({
  family: hash,
  until: timestamp,
  /** the card's. It is a word of an index entry, and no driver must take it for several */
  revision: z.string().regex(/^\w{1,100}$/, 'must be a revision'),
})
type Release = Readonly<z.infer<typeof release>>

/**
 * The last claim of a card, and what the work has come to. It stays as long as the card: no epoch is used again, and it names who worked on
 * the card last.
 */
export const claimRecord = claim.omit({ claimed_at: true, token_name: true }).extend({
  board_id: idOf('board'),
  /** of the first token of the holder's family: its record leads to the present one, which tells whether it can still hold anything */
  token_hash: hash,
  /** `claimed_at` */
  taken_at: timestamp,
  epoch: z.int().min(1),
  /** null: it has been ended */
  expires_at: timestamp.nullable(),
  /**
   * the attempts in a row that ended without success. One whose claim ran out is added with the next write: see `resources/claims/present`
   */
  attempts: amount,
  /** of the last of them */
  reason: prose(limits.workText).nullable(),
  failed_at: timestamp.nullable(),
  not_before: timestamp.nullable(),
  /** the comment that waits for an answer */
  question_id: idOf('comment').nullable(),
  /** the last answer, a comment */
  answer_id: idOf('comment').nullable(),
  /** the attempts that the column of the card allowed when it was claimed last, or moved since; null: any number */
  max_attempts: z.int().min(maxAttempts.least).max(maxAttempts.most).nullable(),
  /** whether the card was moved to another column under this claim: that was its outcome, so it is no attempt if it runs out */
  was_moved: z.boolean(),
  /** the epoch of the last claim that was lost: it ran out, or its token ended. The feed follows from that. null: none was */
  lost_epoch: z.int().min(1).nullable(),
  /** who has released the card lately, the last one last */
  releases: z.array(release).max(limits.releasesPerCard).readonly().optional(),
})
export type ClaimRecord = Readonly<z.infer<typeof claimRecord>>

/** No attempt has ended without success since the last success. */
export const NO_ATTEMPTS = { attempts: 0, reason: null, failed_at: null, not_before: null } as const
/** The work on a card that was never claimed. */
export const NO_WORK = { ...NO_ATTEMPTS, question_id: null, answer_id: null, lost_epoch: null } as const

/**
 * Whether as many attempts in a row have ended without success as the column allows.
 * @param attempts those that count now
 */
export function isStuck({ max_attempts }: Pick<ClaimRecord, 'max_attempts'>, attempts: number): boolean {
  return max_attempts !== null && attempts >= max_attempts
}

/** Whether the end of a claim is an attempt if it has no other outcome. */
export function isAttempt({ expires_at, was_moved }: Pick<ClaimRecord, 'expires_at' | 'was_moved'>): boolean {
  return expires_at !== null && !was_moved
}

/** Why a card is offered to nobody, whatever the time is. */
export const holds = ['waiting', 'stuck'] as const
type Hold = (typeof holds)[number]

/** Why a card is offered to nobody. One whose last attempt has begun counts as stuck: no write follows if that claim runs out. */
export function holdOf(record: ClaimRecord | undefined): Hold | null {
  if (record === undefined) return null
  if (record.question_id !== null) return 'waiting'
  return isStuck(record, record.attempts + (isAttempt(record) ? 1 : 0)) ? 'stuck' : null
}

/** How many seconds a claim or a renewal lasts. */
export const claimSeconds = { min: 10, max: 3_600, default: 300 } as const

/** How long a released card is not offered again to whoever released it, in milliseconds. */
const RELEASED_FOR = 60_000

/**
 * The releases of a card after one more.
 * @param family of the tokens that release it
 * @param revision of the card
 * @param now milliseconds since 1970
 */
export function withRelease(record: Pick<ClaimRecord, 'releases'>, family: string, revision: string, now: number): readonly Release[] {
  const others = (record.releases ?? []).filter((one) => one.family !== family && isKeptBack(one, revision, now))
  return [...others, { family, revision, until: new Date(now + RELEASED_FOR).toISOString() }].slice(-limits.releasesPerCard)
}

/** Whether a card is not offered to a family of tokens, because one of them has released it. */
export function isReleasedBy(record: Pick<ClaimRecord, 'releases'> | undefined, family: string, revision: string, now: number): boolean {
  return record?.releases?.some((one) => one.family === family && isKeptBack(one, revision, now)) === true
}

function isKeptBack({ until, revision }: Release, present: string, now: number): boolean {
  return revision === present && now < Date.parse(until)
}
