import { z } from 'zod'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { prose } from '../../model/text.ts'

/** The body of a comment, an answer, and a change of them. */
export const commentBody = z.strictObject({
  body: documented(
    prose(limits.commentBody, 'The text of the comment.').refine((text) => text.trim() !== '', 'must not be blank'),
    { minLength: 1 },
  ),
})
