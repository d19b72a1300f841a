import { z } from 'zod'
import { limits } from './limits.ts'
import { moveTo, oneAnchor, placeAt } from './placement.ts'
import { line, prose, time } from './text.ts'

/** A card, as it is stored and as it is answered. */
export const card = z.strictObject({
  id: z.string(),
  board_id: z.string(),
  column_id: z.string(),
  title: z.string(),
  description: z.string(),
  position: z.string(),
  due_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  archived_at: z.string().nullable(),
  assignee_ids: z.array(z.string()),
  label_ids: z.array(z.string()),
  cover_attachment_id: z.string().nullable(),
  creator_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Card = Readonly<z.infer<typeof card>>

const title = line(limits.cardTitle)
const description = prose(limits.cardDescription)

export const cardCreate = oneAnchor(
  z.strictObject({ column_id: z.string(), title, description: description.default(''), due_at: time.nullable().default(null), ...placeAt }),
)
export const cardUpdate = z.strictObject({ title, description, due_at: time.nullable() }).partial()
export const cardMove = oneAnchor(z.strictObject({ column_id: z.string().optional(), ...moveTo })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of column_id, before, after, to',
)
export const cardCompletion = z.strictObject({ completed: z.boolean() })
export const cardCover = z.strictObject({ attachment_id: z.string() })
