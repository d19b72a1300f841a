import { z } from 'zod'
import { color, visibilities } from '../../model/board.ts'
import { limits } from '../../model/limits.ts'
import { line, prose } from '../../model/text.ts'

export const boardCreate = z.strictObject({
  name: line(limits.boardName),
  description: prose(limits.boardDescription).default(''),
  cover_color: color.nullable().default(null),
})

export const boardUpdate = z
  .strictObject({
    name: line(limits.boardName),
    description: prose(limits.boardDescription),
    cover_color: color.nullable(),
  })
  .partial()

export const boardVisibility = z.strictObject({ visibility: z.enum(visibilities) })
