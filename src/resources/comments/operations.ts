import { z } from 'zod'
import { listPage } from '../../listing/pages.ts'
import { comment } from '../../model/comment.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { itemList } from '../included.ts'
import { deleted, operation } from '../operation.ts'
import { commentTarget, parentCard } from '../targets.ts'
import { createResource, removeResource, saveResource } from '../writes.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { prose } from '../../model/text.ts'

/** The body of a create and of an update. */
const commentBody = z.strictObject({
  body: documented(
    prose(limits.commentBody, 'The text of the comment.').refine((text) => text.trim() !== '', 'must not be blank'),
    { minLength: 1 },
  ),
})

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
    run: (request, { card }) =>
      createResource(request, 'comment', keys.comment, { card_id: card.id, author_id: request.caller.userId, ...request.body }),
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
    run: (request, loaded) => saveResource(request, keys.comment, loaded.comment, request.body),
  }),

  operation({
    id: 'comments.delete',
    method: 'DELETE',
    path: '/comments/{comment_id}',
    summary: 'Deletes your own comment.',
    needs: ['delete', 'Comment'],
    row: 'P14',
    data: deleted,
    target: commentTarget,
    run: ({ tx }, loaded) => removeResource(tx, keys.comment, loaded.comment),
  }),
]
