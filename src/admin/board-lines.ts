import { z } from 'zod'
import { color, visibilities } from '../model/board.ts'
import { at, id } from '../model/fields.ts'
import { limits } from '../model/limits.ts'
import { line, nameLine, prose } from '../model/text.ts'

/** The number of a column or a label among the lines before. */
const number = z.int().min(0)
const times = { created_at: at, updated_at: at }

/**
 * A line of a board that comes from another program, in its order: the board, its members, labels and columns, then each card with its
 * comments, and at last the end. All texts have the lengths that are accepted here, and users are those of this workspace.
 */
export const boardLine = z.union([
  z.strictObject({
    board: z.strictObject({
      name: nameLine(limits.boardName),
      description: prose(limits.boardDescription),
      cover_color: color.nullable(),
      visibility: z.enum(visibilities),
    }),
  }),
  z.strictObject({ joins: id('user') }),
  z.strictObject({ label: z.strictObject({ name: nameLine(limits.labelName), color }) }),
  z.strictObject({ column: z.strictObject({ name: nameLine(limits.columnName), archived: z.boolean() }) }),
  z.strictObject({
    card: z.strictObject({
      column: number,
      title: line(limits.cardTitle),
      description: prose(limits.cardDescription),
      due_at: at.nullable(),
      completed_at: at.nullable(),
      archived_at: at.nullable(),
      labels: z.array(number).max(limits.labelsPerCard),
      assignees: z.array(id('user')).max(limits.assigneesPerCard),
      subtasks: z.array(z.strictObject({ title: line(limits.subtaskTitle), completed: z.boolean() })).max(limits.subtasksPerCard),
      ...times,
    }),
  }),
  z.strictObject({ comment: z.strictObject({ author: id('user'), body: prose(limits.commentBody), created_at: at }) }),
  z.strictObject({ end: z.int().min(0) }),
])
export type BoardLine = z.infer<typeof boardLine>
