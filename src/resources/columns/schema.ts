import { z } from 'zod'
import { moveTo, oneAnchor, placeAt } from '../../listing/placement.ts'
import { limits } from '../../model/limits.ts'
import { line } from '../../model/text.ts'

const name = line(limits.columnName)

export const columnCreate = oneAnchor(z.strictObject({ name, ...placeAt }))
export const columnRename = z.strictObject({ name })
export const columnMove = oneAnchor(z.strictObject(moveTo), 'required')
