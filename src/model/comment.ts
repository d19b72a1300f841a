import { z } from 'zod'
import { documented, idField, resourceTimes } from './fields.ts'
import { limits } from './limits.ts'
import { prose } from './text.ts'

/** A comment on a card, as it is stored and as the API returns it. */
export const comment = documented(
  z.strictObject({
    id: idField('comment', 'The id of the comment.'),
    card_id: idField('card', 'The card of the comment.'),
    author_id: idField('user', 'The user who wrote the comment.'),
    body: prose(limits.commentBody, 'The text of the comment.'),
    ...resourceTimes,
  }),
  { id: 'Comment', description: 'A comment on a card.' },
)
export type Comment = Readonly<z.infer<typeof comment>>
