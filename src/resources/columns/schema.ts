import { z } from 'zod'
import { booleanParameter } from '../../listing/pages.ts'
import { onePlacement, place } from '../../listing/placement.ts'
import { limits } from '../../model/limits.ts'
import { documented } from '../../model/fields.ts'
import { nameLine } from '../../model/text.ts'

const name = nameLine(limits.columnName, 'The name of the column.')

/** The query member of the list. */
export const archivedColumns = booleanParameter.describe('Whether to list the archived columns instead of the active ones.').default(false)

const wip_limit = documented(z.int().min(1).max(limits.wipLimit).nullable(), {
  format: 'int32',
  description: 'How many active cards it may have, completed ones included; null: any number.',
})

export const columnCreate = onePlacement(z.strictObject({ name, wip_limit: wip_limit.default(null), ...place }))
export const columnRename = z.strictObject({ name, wip_limit }).partial()
export const columnMove = onePlacement(z.strictObject(place), 'required')
