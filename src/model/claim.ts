import { z } from 'zod'
import { at, countField, documented, hash, id, idField, timeField } from './fields.ts'

/** The claim of a card, as the API returns it. */
export const claim = documented(
  z.strictObject({
    card_id: idField('card', 'The claimed card.'),
    holder_id: idField('user', 'The user whose token holds the claim.'),
    token_id: idField('token', 'The token that holds the claim. When it is rotated, its successor does.'),
    epoch: countField(
      'The number of the claim: each new claim of the card has the next one. Send it as `If-Claim`.',
      Number.MAX_SAFE_INTEGER,
    ),
    expires_at: timeField('When the claim runs out, by the clock of the service, unless it is renewed.'),
    renewed_at: timeField('When it was taken or last renewed.'),
  }),
  { id: 'Claim', description: 'Who works on a card, and until when. Its holder is a token.' },
)
export type Claim = Readonly<z.infer<typeof claim>>

/** The last claim of a card. It stays as long as the card: no epoch is used again, and it names who worked on the card last. */
export const claimRecord = claim.extend({
  board_id: id('board'),
  /** of the token: its record tells whether it can still hold anything */
  token_hash: hash,
  /** when its holder took the card: renewals leave it alone */
  taken_at: at,
  epoch: z.int().min(1),
  /** null: it has been ended */
  expires_at: at.nullable(),
})
export type ClaimRecord = Readonly<z.infer<typeof claimRecord>>

/** Seconds for which a claim is taken or renewed. */
export const claimSeconds = { min: 10, max: 3_600, default: 300 } as const
