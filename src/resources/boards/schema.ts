import { z } from 'zod'
import { wordsParameter } from '../../listing/pages.ts'
import { board, color, visibilities } from '../../model/board.ts'
import { column } from '../../model/column.ts'
import { documented } from '../../model/fields.ts'
import { label } from '../../model/label.ts'
import { limits } from '../../model/limits.ts'
import { nameLine, prose } from '../../model/text.ts'
import { boardMemberEntry } from '../board-members/people.ts'
import { cardWithClaim } from '../cards/schema.ts'
import { countsShape } from '../counts.ts'

const members = {
  name: nameLine(limits.boardName, 'The name of the board.'),
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

/** What a request for a board can include. */
const boardParts = ['columns', 'cards', 'labels', 'members', 'counts', 'claim', 'work'] as const
export type BoardPart = (typeof boardParts)[number]

/** The query of boards.read. */
export const boardQuery = z.strictObject({
  include: documented(wordsParameter(boardParts).optional(), {
    description:
      'What is on the board: everything as it was at one moment. A response that includes something has no ETag, because that changes without the board.',
  }),
})

const part = <Item extends z.ZodType>(item: Item, maxItems: number, description: string) =>
  documented(z.array(item), { description: `${description} Only if it is included.`, maxItems }).optional()

const cursor = (description: string) => documented(z.string(), { description, pattern: '^[A-Za-z0-9_-]+$', maxLength: 400 })

/** A board, with what the query includes. */
export const boardSnapshot = documented(
  board.extend({
    columns: part(column, limits.columnsPerBoard, 'The active columns in their order.'),
    cards: part(cardWithClaim, limits.pageSize.max, 'The first active cards, column by column in their order.'),
    cards_cursor: cursor(
      'The `cursor` to continue GET /boards/{board_id}/cards with after `cards`; null if these are all. Only if `cards` is included.',
    )
      .nullable()
      .optional(),
    labels: part(label, limits.labelsPerBoard, 'The labels, oldest first.'),
    members: part(
      boardMemberEntry,
      limits.membersPerBoard + 1,
      'The creator and the explicit members, in the order in which they were added.',
    ),
    ...countsShape('columns', 'cards', 'labels'),
    changes_cursor: cursor(
      'The `after` that makes GET /boards/{board_id}/changes return every change that is not in this response. Only if something is included.',
    ).optional(),
  }),
  { id: 'BoardSnapshot', description: 'A board, with what the request includes.' },
)
export type BoardSnapshot = z.infer<typeof boardSnapshot>
