import { z } from 'zod'
import { colorField, documented, idField, resourceTimes } from './fields.ts'
import { limits } from './limits.ts'
import { line } from './text.ts'

/** A label of a board, as it is stored and as the API returns it. */
export const label = documented(
  z.strictObject({
    id: idField('label', 'The id of the label.'),
    board_id: idField('board', 'The board of the label.'),
    name: line(limits.labelName, 'The name of the label.'),
    color: colorField('The color of the label.'),
    ...resourceTimes,
  }),
  { id: 'Label', description: 'A label that the cards of a board can have.' },
)
export type Label = Readonly<z.infer<typeof label>>
