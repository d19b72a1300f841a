import { z } from 'zod'
import { moveTo, oneAnchor, placeAt } from '../../listing/placement.ts'
import { limits } from '../../model/limits.ts'
import { line, prose, time } from '../../model/text.ts'

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
