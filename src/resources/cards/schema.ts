import { z } from 'zod'
import { booleanParameter, pageQueryOfOne } from '../../listing/pages.ts'
import { moveTo, onePlacement, placeAt } from '../../listing/placement.ts'
import { card } from '../../model/card.ts'
import { limits } from '../../model/limits.ts'
import { line, prose, time } from '../../model/text.ts'
import { countsShape, includeCounts } from '../counts.ts'

const title = line(limits.cardTitle)
const description = prose(limits.cardDescription)

export const cardCreate = onePlacement(
  z.strictObject({ column_id: z.string(), title, description: description.default(''), due_at: time.nullable().default(null), ...placeAt }),
)
export const cardUpdate = z.strictObject({ title, description, due_at: time.nullable() }).partial()
export const cardMove = onePlacement(z.strictObject({ column_id: z.string().optional(), ...moveTo })).refine(
  (body) => Object.keys(body).length > 0,
  'must have at least one of column_id, before, after, to',
)
export const cardCompletion = z.strictObject({ completed: z.boolean() })
export const cardCover = z.strictObject({ attachment_id: z.string() })

/** A card, with counts if the query asks for them. */
export const cardWithCounts = card.extend(countsShape('subtasks', 'comments', 'attachments'))

/** The response of clear_cover: the id of the attachment that was the cover. */
export const coverCleared = z.strictObject({ id: z.string().nullable(), deleted: z.literal(true) })

/** The list of cards has two orders, and a cursor belongs to one of them. */
export function cardListName({ updated_since }: { updated_since?: string | undefined }): string {
  return updated_since === undefined ? 'cards.list' : 'cards.list by update'
}

/** The query of cards.list. All filters that are given must match. */
export const cardListQuery = pageQueryOfOne(
  ['cards.list', 'cards.list by update'],
  {
    column_id: z.string().optional(),
    assignee_id: z.string().optional(),
    label_id: z.string().optional(),
    completed: booleanParameter.optional(),
    archived: booleanParameter.default(false),
    q: z.string().trim().min(1, 'must not be blank').max(limits.searchText).optional(),
    updated_since: time.optional(),
    ...includeCounts,
  },
  cardListName,
)
