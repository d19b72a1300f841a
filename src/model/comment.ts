import { z } from 'zod'
import { documented, idField, resourceTimes, textField } from './fields.ts'
import { limits } from './limits.ts'

/** A comment on a card, as it is stored and as the API returns it. */
export const comment = documented(
  z.strictObject({
    id: idField('comment', 'The id of the comment.'),
    card_id: idField('card', 'The card of the comment.'),
    author_id: idField('user', 'The user who wrote the comment.'),
    body: textField('The text of the comment.', limits.commentBody),
    ...resourceTimes,
  }),
  { id: 'Comment', description: 'A comment on a card.' },
)
export type Comment = Readonly<z.infer<typeof comment>>
