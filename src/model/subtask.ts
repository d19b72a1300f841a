import { z } from 'zod'
import { documented, idField, positionField, resourceTimes, timeField } from './fields.ts'
import { limits } from './limits.ts'
import { line } from './text.ts'

/** A subtask of a card, as it is stored and as the API returns it. */
export const subtask = documented(
  z.strictObject({
    id: idField('subtask', 'The id of the subtask.'),
    card_id: idField('card', 'The card of the subtask.'),
    title: line(limits.subtaskTitle, 'The title of the subtask.'),
    completed_at: timeField('When the subtask was completed; null if it is not completed.').nullable(),
    position: positionField('subtasks of its card'),
    ...resourceTimes,
  }),
  { id: 'Subtask', description: 'A step of the work on a card.' },
)
export type Subtask = Readonly<z.infer<typeof subtask>>
