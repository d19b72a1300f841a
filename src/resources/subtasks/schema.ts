import { z } from 'zod'
import { onePlacement, place } from '../../listing/placement.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { line } from '../../model/text.ts'

const title = line(limits.subtaskTitle, 'The title of the subtask.')
const completed = documented(z.boolean(), { description: 'Whether the subtask is completed.' })

const created = { title, completed: completed.default(false) }
/** A subtask that is created with its card: its title, or an object. */
export const subtaskOfNewCard = z.union([title.transform((text) => ({ title: text, completed: false })), z.strictObject(created)], {
  error: `must be a title of 1 to ${limits.subtaskTitle} characters, or an object with title and completed`,
})
export const subtaskCreate = onePlacement(z.strictObject({ ...created, ...place }))
export const subtaskUpdate = onePlacement(z.strictObject({ title: title.optional(), completed: completed.optional(), ...place })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of title, completed, before, after, to',
)
