import { z } from 'zod'
import { moveTo, onePlacement, placeAt } from '../../listing/placement.ts'
import { limits } from '../../model/limits.ts'
import { line } from '../../model/text.ts'

const name = line(limits.columnName)

export const columnCreate = onePlacement(z.strictObject({ name, ...placeAt }))
export const columnRename = z.strictObject({ name })
export const columnMove = onePlacement(z.strictObject(moveTo), 'required')
