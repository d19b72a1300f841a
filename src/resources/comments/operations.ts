import { z } from 'zod'
import { listPage, pageQuery } from '../../listing/pages.ts'
import { comment } from '../../model/comment.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { includeParameter, listed } from '../included.ts'
import { deleted, operation } from '../operation.ts'
import { commentTarget, parentCard } from '../targets.ts'
import { capacityMessage, createResource, removeResource, requireCapacity, saveResource } from '../writes.ts'
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

const entity = (params: Readonly<Record<string, string>>) => keys.comment(params['comment_id']!)

/** Comments on a card (spec §5: rows P2, P13, P14). */
export const commentOperations = [
  operation({
    id: 'comments.list',
    method: 'GET',
    path: '/cards/{card_id}/comments',
    summary: 'Lists the comments on a card, oldest first.',
    needs: ['read', 'Comment'],
    row: 'P2',
    query: z.strictObject({ ...pageQuery('comments.list'), ...includeParameter('etag') }),
    data: z.array(listed(comment)),
    itemEntity: keys.comment,
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
    entity,
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
    entity: (params) => keys.card(params['card_id']!),
    conflicts: [capacityMessage('commentsPerCard')],
    example: { body: { body: 'The build is green.' } },
    target: parentCard,
    counts: ({ card_id }) => [indexes.comments(card_id!)],
    async run(request, { card }) {
      await requireCapacity(request.tx, indexes.comments(card.id), 'commentsPerCard')
      const { body } = request.body
      return createResource(request, 'comment', keys.comment, { card_id: card.id, author_id: request.caller.userId, body })
    },
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
    entity,
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
    entity,
    target: commentTarget,
    run: ({ tx }, loaded) => removeResource(tx, keys.comment, loaded.comment),
  }),
]
