import { z } from 'zod'
import { board, color, visibilities } from '../../model/board.ts'
import { documented } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { line, prose } from '../../model/text.ts'
import { countsShape } from '../counts.ts'

const members = {
  name: line(limits.boardName, 'The name of the board.'),
  description: prose(limits.boardDescription, 'What the board is for.'),
  cover_color: documented(color.nullable(), { description: 'The color of the board, as `#rrggbb`; null: none.' }),
}

export const boardCreate = z.strictObject({
  ...members,
  description: members.description.default(''),
  cover_color: members.cover_color.default(null),
})
export const boardUpdate = z.strictObject(members).partial()
export const boardVisibility = z.strictObject({
  visibility: documented(z.enum(visibilities), {
    description:
      '`workspace`: every member of the workspace gets access to the board. `private`: only its creator and its explicit members have access.',
  }),
})

/** A board, with counts if the query asks for them. */
export const boardWithCounts = documented(board.extend(countsShape('columns', 'cards', 'labels')), {
  id: 'BoardWithCounts',
  description: 'A board, with counts if the request asks for them.',
})
