import { commentBody } from './schema.ts'
import { z } from 'zod'
import { comment, type Comment } from '../../model/comment.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { timestamp } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { cardEntity, loadTheCard } from '../cards/writing.ts'
import { loadComment } from '../targets.ts'
import { deleted, operation, type Addressed } from '../operation.ts'
import { listPage, pageQuery } from '../../listing/pages.ts'
import { requireCapacity } from '../../listing/capacity.ts'

const entity = (params: Readonly<Record<string, string>>) => keys.comment(params['comment_id']!)
const load = ({ tx, caller, params }: Addressed) => loadComment(tx, caller, params['comment_id']!)
const FULL = `A card has at most ${limits.commentsPerCard} comments.`

/** Comments on a card (spec §5: rows P2, P13, P14). */
export const commentOperations = [
  operation({
    id: 'comments.list',
    method: 'GET',
    path: '/cards/{card_id}/comments',
    summary: 'Lists the comments on a card, oldest first.',
    needs: ['read', 'Comment'],
    row: 'P2',
    query: z.strictObject(pageQuery('comments.list')),
    data: z.array(comment),
    load: loadTheCard,
    run: ({ tx, query }, { card }) => listPage(tx, 'comments.list', indexes.comments(card.id), query),
  }),

  operation({
    id: 'comments.read',
    method: 'GET',
    path: '/comments/{comment_id}',
    summary: 'Reads a comment.',
    needs: ['read', 'Comment'],
    row: 'P2',
    data: comment,
    entity,
    load,
    run: async (_request, loaded) => ({ data: loaded.comment }),
  }),

  operation({
    id: 'comments.create',
    method: 'POST',
    path: '/cards/{card_id}/comments',
    summary: 'Comments on a card, in the name of the token’s user.',
    needs: ['create', 'Comment'],
    row: 'P13',
    body: commentBody,
    data: comment,
    status: 201,
    entity: cardEntity,
    conflicts: [FULL],
    load: loadTheCard,
    async run({ tx, caller, body, clock, random }, { card }) {
      await requireCapacity(tx, indexes.comments(card.id), limits.commentsPerCard, FULL)
      const now = timestamp(clock)
      const created: Comment = {
        id: newId('comment', random),
        card_id: card.id,
        author_id: caller.userId,
        body: body.body,
        created_at: now,
        updated_at: now,
      }
      const key = keys.comment(created.id)
      await tx.create(key, created)
      return { data: created, location: `/comments/${created.id}`, entity: key }
    },
  }),

  operation({
    id: 'comments.update',
    method: 'PATCH',
    path: '/comments/{comment_id}',
    summary: "Changes one's own comment.",
    needs: ['update', 'Comment'],
    row: 'P14',
    body: commentBody,
    data: comment,
    entity,
    load,
    async run({ tx, body, clock }, loaded) {
      const changed: Comment = { ...loaded.comment, body: body.body, updated_at: timestamp(clock) }
      tx.put(keys.comment(changed.id), changed)
      return { data: changed }
    },
  }),

  operation({
    id: 'comments.delete',
    method: 'DELETE',
    path: '/comments/{comment_id}',
    summary: "Deletes one's own comment.",
    needs: ['delete', 'Comment'],
    row: 'P14',
    data: deleted,
    entity,
    load,
    async run({ tx }, loaded) {
      tx.remove(keys.comment(loaded.comment.id))
      return { data: { id: loaded.comment.id, deleted: true } }
    },
  }),
]
