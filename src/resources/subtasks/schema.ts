import { z } from 'zod'
import { onePlacement, place } from '../../listing/placement.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { line } from '../../model/text.ts'

const title = line(limits.subtaskTitle, 'The title of the subtask.')
const completed = documented(z.boolean(), { description: 'Whether the subtask is completed.' })

export const subtaskCreate = onePlacement(z.strictObject({ title, completed: completed.default(false), ...place }))
export const subtaskUpdate = onePlacement(z.strictObject({ title: title.optional(), completed: completed.optional(), ...place })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of title, completed, before, after, to',
)
