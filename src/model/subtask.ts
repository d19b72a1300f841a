import { z } from 'zod'
import { limits } from './limits.ts'
import { oneAnchor, placeAt } from './placement.ts'
import { line } from './text.ts'

/** A subtask of a card, as it is stored and as it is answered. */
export const subtask = z.strictObject({
  id: z.string(),
  card_id: z.string(),
  title: z.string(),
  completed_at: z.string().nullable(),
  position: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Subtask = Readonly<z.infer<typeof subtask>>

const title = line(limits.subtaskTitle)

export const subtaskCreate = oneAnchor(z.strictObject({ title, completed: z.boolean().default(false), ...placeAt }))
export const subtaskUpdate = oneAnchor(z.strictObject({ title: title.optional(), completed: z.boolean().optional(), ...placeAt })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of title, completed, before, after',
)
