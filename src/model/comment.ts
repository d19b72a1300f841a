import { z } from 'zod'
import { documented, idField, resourceTimes } from './fields.ts'
import { limits } from './limits.ts'
import { prose } from './text.ts'
import { tokenNameField } from './token.ts'

/** What a comment is: an agent asks a `question`, and an `answer` lets the work on the card go on. */
const commentKinds = ['comment', 'question', 'answer'] as const

/** Who changes the text of a comment: only its author may, themself or with a token. */
const editors = ['person', 'token'] as const

/** A comment on a card, as it is stored and as the API returns it. */
export const comment = documented(
  z.strictObject({
    id: idField('comment', 'The id of the comment.'),
    card_id: idField('card', 'The card of the comment.'),
    author_id: idField('user', 'The user who wrote the comment.'),
    token_id: idField('token', 'The access token that wrote it; null: its author wrote it in the web app.').nullable(),
    token_name: tokenNameField('The name of that token; null without one.').nullable(),
    body: prose(limits.commentBody, 'The text of the comment.'),
    kind: documented(z.enum(commentKinds), {
      description:
        'A `question` was asked by the holder of the claim of the card, and an `answer` was given to one; all others are a `comment`.',
    }),
    answers: idField('comment', 'The question that an answer answers; null for all others.').nullable(),
    edited_by: documented(z.enum(editors).optional(), {
      description: 'Who has changed its text last: its author in the web app (`person`), or a `token` of theirs. Absent: nobody has.',
    }),
    ...resourceTimes,
  }),
  { id: 'Comment', description: 'A comment on a card.' },
)
export type Comment = Readonly<z.infer<typeof comment>>
