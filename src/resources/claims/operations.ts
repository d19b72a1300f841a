import { z } from 'zod'
import { booleanParameter } from '../../listing/pages.ts'
import { cardTarget, claimReads, idOf, parentBoard, parentCard, target } from '../targets.ts'
import { conflict } from '../../model/errors.ts'
import type { Column } from '../../model/column.ts'
import { type Card, card } from '../../model/card.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { memberOf } from '../../store/reads.ts'
import { requireNamed } from '../cards/named.ts'
import { includeParameter } from '../included.ts'
import { deleted, operation, writeQuery, type OperationRequest } from '../operation.ts'
import { capacityMessage } from '../capacity.ts'
import { deletedResult } from '../writes.ts'
import { grantClaim, releaseClaim, requireClaimCapacity } from './changes.ts'
import { isHeldBy, readClaim } from './present.ts'
import { findReadyCard } from './ready.ts'
import { readWorks } from './work.ts'
import { claim, claimSeconds } from '../../model/claim.ts'
import { comment } from '../../model/comment.ts'
import { retrySeconds, work } from '../../model/work.ts'
import { documented, givenIdField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'

const { min, max } = claimSeconds
const ttl = documented(z.int().min(min).max(max).default(claimSeconds.default), {
  format: 'int32',
  description: 'The seconds until it expires, unless it is renewed.',
})

const claimTake = z.strictObject({ ttl })
const claimRelease = z.strictObject({
  retry_after: documented(z.int().min(0).max(retrySeconds.longestGiven), {
    format: 'int32',
    description: 'For how many seconds nobody gets the card.',
  }).optional(),
})
const claimNext = z.strictObject({
  column_id: givenIdField('column', 'Only a card of this column.').optional(),
  label_id: givenIdField('label', 'Only a card with this label.').optional(),
  ttl,
  wait: documented(z.int().min(0).max(limits.longPoll).default(0), {
    format: 'int32',
    description: 'The seconds to wait for a card if none is ready.',
  }),
})

/** The claim of a card, or null. */
const cardClaim = documented(claim.nullable(), { id: 'CardClaim', description: 'The claim of a card; null if nobody holds it.' })

/** A question that was answered. */
export const answered = documented(z.strictObject({ question: comment, answer: comment }), {
  id: 'AnsweredQuestion',
  description: 'The last question about a card that was answered.',
})

/** A card with its claim. */
export const claimedCard = documented(
  card.extend({
    claim,
    work: documented(work.optional(), { description: 'Only with `include=work`.' }),
    answered: documented(answered.nullable(), {
      description: 'Its last question that was answered; null if there is none. Only with `include=work`.',
    }).optional(),
  }),
  { id: 'ClaimedCard', description: 'A card that is claimed.' },
)

/** A card that was taken. */
const nextCard = documented(claimedCard.nullable(), {
  id: 'NextCard',
  description: 'The card that was taken, with its claim; null if none is ready.',
})

const HELD = 'Another token holds the card.'
const WAITS = 'The card is stuck, or waits for an answer.'
const CLOSED = 'The card is completed or archived, or its column is archived.'

/** The card of `card_id` with its column and its claim. */
const claimableCard = target(
  (params, caller) => {
    const id = idOf('card', params['card_id'])
    return [...cardTarget.reads(params, caller), ...claimReads(id), keys.column(memberOf(keys.card(id), 'column_id'))]
  },
  (records) => ({ ...cardTarget.from(records), column: records.at(-1) as Column }),
)

/** Claims of cards (src/http/claims.md, "Claims: one worker for each card"; row X9). */
export const claimOperations = [
  operation({
    id: 'claims.take_next',
    method: 'POST',
    path: '/boards/{board_id}/claims',
    summary: 'Claims the first ready card of a board, in the order of its columns and of the cards in them.',
    needs: ['take', 'Claim'],
    row: 'X9',
    entity: undefined,
    query: writeQuery.extend(includeParameter('work')),
    body: claimNext,
    data: nextCard,
    status: 201,
    conflicts: [capacityMessage('claimsPerBoard')],
    example: { body: { ttl: 300, wait: 20 } },
    target: parentBoard,
    async related({ tx, body: { column_id, label_id } }, { board }) {
      await requireNamed(tx, board, { column_id, label_id })
      return {}
    },
    async run(request, { board }) {
      const { ttl, wait, ...filter } = request.body
      const { found, next } = await findReadyCard(request, board.id, filter)
      if (found === undefined) {
        const none = { data: null, status: 200, entity: null } as const
        if (wait === 0) return none
        return {
          ...none,
          awaited: { index: indexes.changes(board.id), seconds: wait, until: next === undefined ? undefined : Date.parse(next) },
        }
      }
      const { card, column } = found
      const { claim, event } = grantClaim(request, card, column, found.claim, ttl)
      const included = request.query.include?.has('work') === true ? await readIncluded(request, card) : undefined
      return { data: { ...card, claim, ...included }, location: `/cards/${card.id}`, entity: null, claimed: event }
    },
  }),

  operation({
    id: 'claims.take',
    method: 'PUT',
    path: '/cards/{card_id}/claim',
    summary: 'Claims a card, or renews the claim of the calling token.',
    needs: ['take', 'Claim'],
    row: 'X9',
    entity: undefined,
    body: claimTake,
    data: cardClaim,
    conflicts: [HELD, CLOSED, WAITS, capacityMessage('claimsPerBoard')],
    example: { body: { ttl: 300 } },
    target: claimableCard,
    async run(request, { card, column }) {
      const claim = await readClaim(request, card.id)
      if (claim.live !== undefined && !isHeldBy(claim.live, request.caller)) throw conflict(HELD, { claim: claim.live })
      if (!isOpen(card, column)) throw conflict(CLOSED)
      if (claim.live === undefined) {
        await requireClaimCapacity(request, card.board_id)
        const [work] = await readWorks(request, [card])
        if (work!.state === 'stuck' || work!.state === 'waiting') throw conflict(WAITS, { work })
      }
      const granted = grantClaim(request, card, column, claim, request.body.ttl)
      return { data: granted.claim, claimed: granted.event }
    },
  }),

  operation({
    id: 'claims.release',
    method: 'DELETE',
    path: '/cards/{card_id}/claim',
    summary: "Ends the calling token's claim on a card; with `force=true`, any token's claim.",
    needs: ['release', 'Claim'],
    row: 'X9',
    entity: undefined,
    query: writeQuery.extend({
      force: documented(booleanParameter.default(false), {
        description: 'Ends the claim of another token, too.',
      }),
    }),
    body: claimRelease,
    data: deleted,
    conflicts: [HELD],
    example: { body: { retry_after: 600 } },
    target: parentCard,
    async run(request, { card }) {
      const claim = await readClaim(request, card.id)
      if (claim.live === undefined) return deletedResult(card.id)
      if (!isHeldBy(claim.live, request.caller) && !request.query.force) throw conflict(HELD, { claim: claim.live })
      releaseClaim(request, claim, request.body.retry_after)
      return deletedResult(card.id)
    },
  }),

  operation({
    id: 'claims.read',
    method: 'GET',
    path: '/cards/{card_id}/claim',
    summary: 'Returns who holds a card, and until when; null if nobody does.',
    needs: ['read', 'Claim'],
    row: 'P2',
    data: cardClaim,
    target: parentCard,
    run: async (request, { card }) => ({ data: (await readClaim(request, card.id)).live ?? null }),
  }),
]

/** What the next worker has to know of a card: the work so far, and what was answered. */
async function readIncluded(request: Pick<OperationRequest, 'tx' | 'clock'>, card: Card) {
  const { tx } = request
  const [work] = await readWorks(request, [card])
  const answerId = tx.known(keys.claim(card.id))!.answer_id
  // Stryker disable next-line ConditionalExpression: of an answer that does not exist, nothing is found
  if (answerId === null) return { work: work!, answered: null }
  const key = keys.comment(answerId)
  const [answer, question] = await tx.read([key, keys.comment(memberOf(key, 'answers'))])
  return { work: work!, answered: answer && question ? { question, answer } : null }
}

function isOpen(card: Card, column: Column): boolean {
  return card.completed_at === null && card.archived_at === null && column.archived_at === null
}
