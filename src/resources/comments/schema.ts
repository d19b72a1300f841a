import { z } from 'zod'
import { limits } from '../../model/limits.ts'
import { prose } from '../../model/text.ts'

/** The body of a create and of an update. */
export const commentBody = z.strictObject({
  body: prose(limits.commentBody)
    .refine((text) => text.trim() !== '', 'must not be blank')
    .meta({ description: 'The text of the comment.', minLength: 1 }),
})
