import { z } from 'zod'
import { documented, idField, positionField, resourceTimes, textField, timeField } from './fields.ts'
import { limits } from './limits.ts'

/** A card, as it is stored and as the API returns it. */
export const card = documented(
  z.strictObject({
    id: idField('card', 'The id of the card.'),
    board_id: idField('board', 'The board of the card. A card never moves to another board.'),
    column_id: idField('column', 'The column of the card.'),
    title: textField('The title of the card.', limits.cardTitle),
    description: textField('The text of the card. It may be empty.', limits.cardDescription),
    position: positionField('cards of its column, archived ones included'),
    due_at: timeField('When the card is due; null if it has no due time.').nullable(),
    completed_at: timeField('When the card was completed; null if it is not completed.').nullable(),
    completed_by_id: idField(
      'user',
      'The user who completed the card; null if it is not completed, or if that is not known: it was imported from another program.',
    ).nullable(),
    archived_at: timeField('When the card was archived; null if it is active.').nullable(),
    assignee_ids: documented(z.array(idField('user', 'The id of an assignee.')), {
      description: 'The users who are assigned to the card, in the order in which they were assigned.',
      maxItems: limits.assigneesPerCard,
    }),
    label_ids: documented(z.array(idField('label', 'The id of a label.')), {
      description: 'The labels of the card, in the order in which they were applied.',
      maxItems: limits.labelsPerCard,
    }),
    blocker_ids: documented(z.array(idField('card', 'The id of a blocker.')), {
      description:
        'The cards of the board that block this one, in the order in which they were added. One that is completed or archived stays among them and blocks no more; one that is deleted disappears.',
      maxItems: limits.blockersPerCard,
    }),
    cover_attachment_id: idField('attachment', 'The attachment that is the cover of the card; null if it has none.').nullable(),
    creator_id: idField('user', 'The user who created the card.'),
    ...resourceTimes,
  }),
  { id: 'Card', description: 'A card: one piece of work. It is in one column of one board.' },
)
export type Card = Readonly<z.infer<typeof card>>

/** Whether a card can be ready, and blocks those whose blocker it is: it is active and not completed, whatever its column is. */
export function isOpen(card: Card | undefined): boolean {
  return card !== undefined && card.archived_at === null && card.completed_at === null
}

/** The blockers of a card; none without a card. */
export function blockersOf(card: Card | undefined): readonly string[] {
  return card?.blocker_ids ?? []
}
