import { authorOf } from '../../authz/context.ts'
import { listPage } from '../../listing/pages.ts'
import { comment } from '../../model/comment.ts'
import { ApiError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { hasAtMost } from '../../model/text.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { goOn } from '../claims/changes.ts'
import { readClaim } from '../claims/present.ts'
import { itemList } from '../included.ts'
import { lastComments } from '../notices/recipients.ts'
import { deleted, operation } from '../operation.ts'
import { commentTarget, parentCard } from '../targets.ts'
import { createResource, removeResource, saveResource } from '../writes.ts'
import { commentBody } from './schema.ts'

const TOO_LONG = `must have at most ${limits.workText} characters: it is a question`

function tooLong(): ApiError {
  return new ApiError('validation_failed', {
    message: `The request does not match what this operation accepts: "body" ${TOO_LONG}.`,
    members: { issues: [{ in: 'body', path: 'body', message: TOO_LONG }] },
  })
}

/** Comments on a card (spec §5: rows P2, P13, P14). */
export const commentOperations = [
  operation({
    id: 'comments.list',
    method: 'GET',
    path: '/cards/{card_id}/comments',
    summary: 'Lists the comments on a card, oldest first.',
    needs: ['read', 'Comment'],
    row: 'P2',
    ...itemList('comments.list', comment),
    target: parentCard,
    run: ({ tx, query }, { card }) => listPage(tx, 'comments.list', indexes.comments(card.id), query),
  }),

  operation({
    id: 'comments.read',
    method: 'GET',
    path: '/comments/{comment_id}',
    summary: 'Returns a comment.',
    needs: ['read', 'Comment'],
    row: 'P2',
    data: comment,
    target: commentTarget,
    run: (_request, loaded) => ({ data: loaded.comment }),
  }),

  operation({
    id: 'comments.create',
    method: 'POST',
    path: '/cards/{card_id}/comments',
    summary: 'Adds a comment to a card. Its author is the user of the token.',
    needs: ['create', 'Comment'],
    row: 'P13',
    body: commentBody,
    data: comment,
    status: 201,
    capacity: ['commentsPerCard', indexes.comments],
    example: { body: { body: 'The build is green.' } },
    target: parentCard,
    ranges: ({ card_id }) => [lastComments(card_id!)],
    run: (request, { card }) =>
      createResource(request, 'comment', keys.comment, {
        card_id: card.id,
        ...authorOf(request.caller),
        ...request.body,
        kind: 'comment',
        answers: null,
      }),
  }),

  operation({
    id: 'comments.update',
    method: 'PATCH',
    path: '/comments/{comment_id}',
    summary: 'Changes your own comment.',
    needs: ['update', 'Comment'],
    row: 'P14',
    body: commentBody,
    data: comment,
    example: { body: { body: 'The build is green again.' } },
    target: commentTarget,
    run(request, loaded) {
      const { comment } = loaded
      if (comment.kind === 'question' && !hasAtMost(limits.workText, request.body.body)) throw tooLong()
      const isSame = request.body.body === undefined || request.body.body === comment.body
      const edited_by = request.caller.token === undefined ? 'person' : 'token'
      return saveResource(request, keys.comment, comment, { ...request.body, ...(!isSame && { edited_by }) })
    },
  }),

  operation({
    id: 'comments.delete',
    method: 'DELETE',
    path: '/comments/{comment_id}',
    summary: 'Deletes your own comment. If it is a question without an answer, the card no longer waits.',
    needs: ['delete', 'Comment'],
    row: 'P14',
    data: deleted,
    target: commentTarget,
    async run(request, { comment: removed, card }) {
      if (removed.kind === 'question') {
        const claim = await readClaim(request, card.id)
        if (claim.settled?.question_id === removed.id) goOn(request, claim, null)
      }
      return removeResource(request.tx, keys.comment, removed)
    },
  }),
]
