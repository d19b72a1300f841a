import { z } from 'zod'
import { board, color, visibilities } from '../../model/board.ts'
import { limits } from '../../model/limits.ts'
import { line, prose } from '../../model/text.ts'
import { countsShape } from '../counts.ts'

const members = {
  name: line(limits.boardName),
  description: prose(limits.boardDescription),
  cover_color: color.nullable(),
}

export const boardCreate = z.strictObject({
  ...members,
  description: members.description.default(''),
  cover_color: members.cover_color.default(null),
})
export const boardUpdate = z.strictObject(members).partial()
export const boardVisibility = z.strictObject({ visibility: z.enum(visibilities) })

/** A board, with counts if the query asks for them. */
export const boardWithCounts = board.extend(countsShape('columns', 'cards', 'labels'))
