import { z } from 'zod'
import { limits } from './limits.ts'
import { moveTo, oneAnchor, placeAt } from './placement.ts'
import { line } from './text.ts'

/** A column, as it is stored and as it is answered. */
export const column = z.strictObject({
  id: z.string(),
  board_id: z.string(),
  name: z.string(),
  position: z.string(),
  archived_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Column = Readonly<z.infer<typeof column>>

const name = line(limits.columnName)

export const columnCreate = oneAnchor(z.strictObject({ name, ...placeAt }))
export const columnRename = z.strictObject({ name })
export const columnMove = oneAnchor(z.strictObject(moveTo), 'required')
