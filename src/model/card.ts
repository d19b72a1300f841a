import { z } from 'zod'
import { documented, idField, positionField, resourceTimes, timeField } from './fields.ts'
import { limits } from './limits.ts'
import { line, prose } from './text.ts'

/** How the work on a completed card has ended. */
export const outcomes = ['succeeded', 'failed'] as const
export type Outcome = (typeof outcomes)[number]

/** The id of a card elsewhere, such as in the system that it came from. */
export const externalRef = line(
  limits.externalRef,
  'The id of the card in another system, such as `JIRA-4711`. No two cards of a board have the same one, archived ones included. Case matters.',
)

/** A card, as it is stored and as the API returns it. */
export const card = documented(
  z.strictObject({
    id: idField('card', 'The id of the card.'),
    board_id: idField('board', 'The board of the card. A card never moves to another board.'),
    column_id: idField('column', 'The column of the card.'),
    title: line(limits.cardTitle, 'The title of the card.'),
    description: prose(limits.cardDescription, 'The text of the card. It may be empty.'),
    external_ref: externalRef.nullable(),
    position: positionField('cards of its column, archived ones included'),
    due_at: timeField('When the card is due; null if it has no due time.').nullable(),
    completed_at: timeField('When the card was completed; null if it is not completed.').nullable(),
    completed_by_id: idField(
      'user',
      'The user who completed the card; null if it is not completed, or if an earlier version imported it from another program.',
    ).nullable(),
    outcome: documented(z.enum(outcomes).nullable(), {
      description:
        'How the card was completed; null if it is not completed. One that has `failed` is done, and still blocks the cards whose blocker it is.',
    }),
    archived_at: timeField('When the card was archived; null if it is active.').nullable(),
    assignee_ids: documented(z.array(idField('user', 'The id of an assignee.')).max(limits.assigneesPerCard), {
      description: 'The users who are assigned to the card, in the order in which they were assigned.',
    }),
    label_ids: documented(z.array(idField('label', 'The id of a label.')).max(limits.labelsPerCard), {
      description: 'The labels of the card, in the order in which they were applied.',
    }),
    blocker_ids: documented(z.array(idField('card', 'The id of a blocker.')).max(limits.blockersPerCard), {
      description:
        'The cards of the board that block this one, in the order in which they were added. One that has succeeded or is archived stays among them and blocks no more; one that is deleted disappears.',
    }),
    cover_attachment_id: idField('attachment', 'The attachment that is the cover of the card; null if it has none.').nullable(),
    creator_id: idField('user', 'The user who created the card.'),
    ...resourceTimes,
  }),
  { id: 'Card', description: 'A card: one piece of work. It is in one column of one board.' },
)
export type Card = Readonly<z.infer<typeof card>>

/** Whether a card can be ready: it is active and not completed, whatever its column is. */
export function isOpen(card: Card | undefined): boolean {
  return card !== undefined && card.archived_at === null && card.completed_at === null
}

/** Whether a card blocks those whose blocker it is: it is active, and has not succeeded. */
export function isBlocking(card: Card | undefined): boolean {
  return card !== undefined && card.archived_at === null && card.outcome !== 'succeeded'
}

/** The blockers of a card; none without a card. */
export function blockersOf(card: Card | undefined): readonly string[] {
  return card?.blocker_ids ?? []
}
