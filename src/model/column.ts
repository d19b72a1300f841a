import { z } from 'zod'
import { documented, idField, positionField, resourceTimes, timeField } from './fields.ts'
import { limits } from './limits.ts'
import { line } from './text.ts'
import { maxAttempts } from './work.ts'

/** A column, as it is stored and as the API returns it. */
export const column = documented(
  z.strictObject({
    id: idField('column', 'The id of the column.'),
    board_id: idField('board', 'The board of the column.'),
    name: line(limits.columnName, 'The name of the column.'),
    position: positionField('columns of its board, archived ones included'),
    wip_limit: documented(z.int().min(1).max(limits.wipLimit).nullable(), {
      format: 'int32',
      description:
        'How many active cards the column may have, completed ones included; null: any number. More may be left from before it was set.',
    }),
    max_attempts: documented(z.int().min(maxAttempts.least).max(maxAttempts.most).nullable(), {
      format: 'int32',
      description: 'After how many attempts in a row that end without success a card of the column is stuck; null: never.',
    }),
    completes: documented(z.boolean(), {
      description:
        'Whether a card that comes into the column is completed, and one that leaves it for a column that does not is open again.',
    }),
    archived_at: timeField('When the column was archived; null if it is active.').nullable(),
    ...resourceTimes,
  }),
  { id: 'Column', description: 'A column of a board: one state of its cards.' },
)
export type Column = Readonly<z.infer<typeof column>>
