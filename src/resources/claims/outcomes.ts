import { authorOf } from '../../authz/context.ts'
import { z } from 'zod'
import type { Card } from '../../model/card.ts'
import { isStuck, type ClaimRecord } from '../../model/claim.ts'
import { comment } from '../../model/comment.ts'
import { conflict } from '../../model/errors.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { prose } from '../../model/text.ts'
import { retrySeconds, work, type Work } from '../../model/work.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { memberOf } from '../../store/reads.ts'
import { commentBody } from '../comments/schema.ts'
import { lastComments } from '../notices/recipients.ts'
import { operation, type OperationRequest } from '../operation.ts'
import { cardAndWork, idOf, target } from '../targets.ts'
import { createResource } from '../writes.ts'
import { failAttempt, forgetAttempts, goOn, waitForAnswer } from './changes.ts'
import { readClaim } from './present.ts'
import { isBlocked, workOf } from './work.ts'

const text = (description: string) =>
  documented(
    prose(limits.workText, description).refine((given) => given.trim() !== '', 'must not be blank'),
    { minLength: 1 },
  )

const claimFailure = z.strictObject({
  reason: text('Why the attempt has failed. Whoever takes the card next reads it, and so do people.'),
  retry_after: documented(z.int().min(0).max(retrySeconds.longestGiven), {
    format: 'int32',
    description: `The seconds before the card is tried again. By default ${retrySeconds.first} after the first attempt, twice as many after each further one, and at most ${retrySeconds.most}.`,
  }).optional(),
})
const claimQuestion = z.strictObject({ question: text('What you need to know before you can go on.') })

const NO_QUESTION = 'The card has no question that waits for an answer.'

/** The card of `card_id` with its claim, and with the question that waits for an answer. */
const questionTarget = target(
  (params, caller) => {
    const claim = keys.claim(idOf('card', params['card_id']))
    return [...cardAndWork.reads(params, caller), keys.comment(memberOf(claim, 'question_id'))]
  },
  (records) => {
    const question = records.at(-1) as z.infer<typeof comment> | undefined
    return { ...cardAndWork.from(records), question: question ?? null }
  },
)

/** The outcomes of the work on a card other than its completion (src/http/claims.md, "Work that fails or asks"; row X11). */
export const outcomeOperations = [
  operation({
    id: 'claims.fail',
    method: 'POST',
    path: '/cards/{card_id}/claim/failure',
    summary: 'Ends the claim of the calling token because the attempt has failed. The card is tried again later, until it is stuck.',
    needs: ['fail', 'Claim'],
    row: 'X11',
    entity: undefined,
    requiresClaim: true,
    body: claimFailure,
    data: work,
    example: { body: { reason: 'The tests are red: 3 of 214 fail.', retry_after: 60 } },
    target: cardAndWork,
    async run(request, { card }) {
      const failed = failAttempt(request, await readClaim(request, card.id), request.body)
      const stuck = isStuck(failed, failed.attempts) ? [{ event: 'stuck' } as const] : []
      return { data: workAfter(request, card, failed), work: [{ event: 'failed' }, ...stuck] }
    },
  }),

  operation({
    id: 'claims.ask',
    method: 'POST',
    path: '/cards/{card_id}/claim/question',
    summary: 'Ends the claim of the calling token with a question: a comment. Nobody gets the card until it is answered.',
    needs: ['ask', 'Claim'],
    row: 'X11',
    requiresClaim: true,
    body: claimQuestion,
    data: comment,
    status: 201,
    capacity: ['commentsPerCard', indexes.comments],
    example: { body: { question: 'Which of the two logos should I use?' } },
    target: cardAndWork,
    ranges: ({ card_id }) => [lastComments(card_id!)],
    async run(request, { card }) {
      const asked = addComment(request, card, { body: request.body.question, kind: 'question', answers: null })
      waitForAnswer(request, await readClaim(request, card.id), asked.data.id)
      return { ...asked, work: [{ event: 'asked' }] }
    },
  }),

  operation({
    id: 'cards.answer',
    method: 'POST',
    path: '/cards/{card_id}/answer',
    summary: 'Answers the question on a card with a comment. The card no longer waits.',
    needs: ['answer', 'Card'],
    row: 'X11',
    body: commentBody,
    data: comment,
    status: 201,
    capacity: ['commentsPerCard', indexes.comments],
    conflicts: [NO_QUESTION],
    example: { body: { body: 'The blue one.' } },
    target: questionTarget,
    ranges: ({ card_id }) => [lastComments(card_id!)],
    async run(request, { card, question }) {
      const claim = await readClaim(request, card.id)
      if (question === null) throw conflict(NO_QUESTION)
      const given = addComment(request, card, { ...request.body, kind: 'answer', answers: question.id })
      goOn(request, claim, given.data.id)
      return { ...given, work: [{ event: 'answered', seconds: secondsBetween(question, given.data) }] }
    },
  }),

  operation({
    id: 'cards.retry',
    method: 'POST',
    path: '/cards/{card_id}/retry',
    summary: 'Forgets failed attempts: a card that is stuck, or waits for a time, is offered again at once.',
    needs: ['retry', 'Card'],
    row: 'X11',
    entity: undefined,
    data: work,
    target: cardAndWork,
    async run(request, { card }) {
      const claim = await readClaim(request, card.id)
      const isForgotten = (claim.settled?.failed_at ?? null) !== null
      const work = workAfter(request, card, forgetAttempts(request, claim), claim.live)
      return { data: work, ...(isForgotten && { work: [{ event: 'retried' }] }) }
    },
  }),
]

/** How long a question has waited. The clocks of two processes may differ, and nothing waits for less than no time. */
function secondsBetween(question: { readonly created_at: string }, answer: { readonly created_at: string }): number {
  return Math.max(0, Date.parse(answer.created_at) - Date.parse(question.created_at)) / 1000
}

function workAfter(
  { tx, clock }: Pick<OperationRequest, 'tx' | 'clock'>,
  card: Card,
  settled: ClaimRecord | undefined,
  live?: Parameters<typeof workOf>[1]['live'],
): Work {
  return workOf(card, { settled, live }, isBlocked(tx, card), clock())
}

function addComment(
  request: Pick<OperationRequest, 'tx' | 'clock' | 'random' | 'caller'>,
  { id: card_id }: Card,
  said: Pick<z.infer<typeof comment>, 'body' | 'kind' | 'answers'>,
) {
  return createResource(request, 'comment', keys.comment, { card_id, ...authorOf(request.caller), ...said })
}
