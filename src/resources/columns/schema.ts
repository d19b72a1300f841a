import { z } from 'zod'
import { booleanParameter } from '../../listing/pages.ts'
import { onePlacement, place } from '../../listing/placement.ts'
import { limits } from '../../model/limits.ts'
import { nameLine } from '../../model/text.ts'

const name = nameLine(limits.columnName, 'The name of the column.')

/** The query member of the list. */
export const archivedColumns = booleanParameter.describe('Whether to list the archived columns instead of the active ones.').default(false)

export const columnCreate = onePlacement(z.strictObject({ name, ...place }))
export const columnRename = z.strictObject({ name })
export const columnMove = onePlacement(z.strictObject(place), 'required')
