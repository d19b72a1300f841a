import { z } from 'zod'
import { booleanParameter, pageQueryOfOne } from '../../listing/pages.ts'
import { onePlacement, place } from '../../listing/placement.ts'
import { card } from '../../model/card.ts'
import { documented, idField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { atMost, line, prose, time } from '../../model/text.ts'
import { countsShape, includeCounts } from '../counts.ts'

const title = line(limits.cardTitle, 'The title of the card.')
const description = prose(limits.cardDescription, 'The text of the card.')
const due_at = documented(time.nullable(), {
  description: 'When the card is due; null: at no time. Any offset is accepted. The answer is in UTC.',
})

export const cardCreate = onePlacement(
  z.strictObject({
    column_id: idField('column', 'The column of the new card. It must be an active column of the board.'),
    title,
    description: description.default(''),
    due_at: due_at.default(null),
    ...place,
  }),
)
export const cardUpdate = z.strictObject({ title, description, due_at }).partial()
const destination = idField('column', 'The column to move the card to; by default that of `before` or `after`, else its own.')
export const cardMove = onePlacement(z.strictObject({ column_id: destination.optional(), ...place })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of column_id, before, after, to',
)
export const cardCompletion = z.strictObject({
  completed: documented(z.boolean(), { description: 'Whether the card is completed.' }),
})
export const cardCover = z.strictObject({
  attachment_id: idField('attachment', 'An attachment of this card whose `content_type` begins with `image/`.'),
})

/** A card, with counts if the query asks for them. */
export const cardWithCounts = documented(card.extend(countsShape('subtasks', 'comments', 'attachments')), {
  id: 'CardWithCounts',
  description: 'A card, with counts if the request asks for them.',
})

/** The list of cards has two orders, and a cursor belongs to one of them. */
export function cardListName({ updated_since }: { updated_since?: string | undefined }): string {
  return updated_since === undefined ? 'cards.list' : 'cards.list by update'
}

/** The query of cards.list. All filters that are given must match. */
export const cardListQuery = pageQueryOfOne(
  ['cards.list', 'cards.list by update'],
  {
    column_id: idField('column', 'Only cards of this column.').optional(),
    assignee_id: idField('user', 'Only cards that this user is assigned to.').optional(),
    label_id: idField('label', 'Only cards with this label.').optional(),
    completed: booleanParameter.describe('Only cards that are completed, or only those that are not.').optional(),
    archived: booleanParameter
      .describe('Whether to list the archived cards instead of the active ones. The cards of an archived column are archived.')
      .default(false),
    q: documented(z.string().trim().min(1, 'must not be blank').check(atMost(limits.searchText)), {
      description: 'Only cards whose title or description contains this text. Upper and lower case are equal.',
      maxLength: limits.searchText,
      pattern: '\\S',
    }).optional(),
    updated_since: time.describe('Only cards that were changed at this time or later, in the order of their last changes.').optional(),
    ...includeCounts,
  },
  cardListName,
)
