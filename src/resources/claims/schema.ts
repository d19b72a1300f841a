import { z } from 'zod'
import { card } from '../../model/card.ts'
import { claim, claimSeconds } from '../../model/claim.ts'
import { documented, givenIdField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'

const { min, max } = claimSeconds
const ttl = documented(z.int().min(min).max(max).default(claimSeconds.default), {
  format: 'int32',
  description: 'The seconds after which the claim runs out, unless it is renewed.',
})

export const claimTake = z.strictObject({ ttl })
export const claimNext = z.strictObject({
  column_id: givenIdField('column', 'Only a card of this column.').optional(),
  label_id: givenIdField('label', 'Only a card with this label.').optional(),
  ttl,
  wait: documented(z.int().min(0).max(limits.longPoll).default(0), {
    format: 'int32',
    description: 'The number of seconds to wait for a card if none is ready. The response comes as soon as there is one.',
  }),
})

/** The claim of a card, or null. */
export const cardClaim = documented(claim.nullable(), { id: 'CardClaim', description: 'The claim of a card; null if nobody holds it.' })

/** A card with its claim. */
export const claimedCard = documented(card.extend({ claim }), { id: 'ClaimedCard', description: 'A card that is claimed.' })

/** A card that was taken. */
export const nextCard = documented(claimedCard.nullable(), {
  id: 'NextCard',
  description: 'The card that was taken, with its claim; null if none is ready.',
})
