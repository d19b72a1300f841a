import { z } from 'zod'
import { onePlacement, placeAt } from '../../listing/placement.ts'
import { limits } from '../../model/limits.ts'
import { line } from '../../model/text.ts'

const title = line(limits.subtaskTitle)

export const subtaskCreate = onePlacement(z.strictObject({ title, completed: z.boolean().default(false), ...placeAt }))
export const subtaskUpdate = onePlacement(
  z.strictObject({ title: title.optional(), completed: z.boolean().optional(), ...placeAt }),
).refine((body) => Object.keys(body).length > 0, 'must have at least one of title, completed, before, after')
