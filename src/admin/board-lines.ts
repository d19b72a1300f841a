import { z } from 'zod'
import { visibilities } from '../model/board.ts'

/**
 * A line of a board that comes from another program: first the board, then the operations that make what is on it. An id in a body or a
 * path may be `$0`: what the first of these operations creates, and so on. The files of attachments come last.
 */
export const boardLine = z.union([
  z.strictObject({
    board: z.strictObject({
      name: z.string(),
      description: z.string(),
      visibility: z.enum(visibilities),
      /** the ids of its explicit members */
      members: z.array(z.string()),
    }),
  }),
  // In place of the board: one that exists.
  z.strictObject({ into: z.string() }),
  z.strictObject({
    operation: z.string(),
    params: z.record(z.string(), z.string()),
    body: z.record(z.string(), z.unknown()).optional(),
    /** further members of the body: texts in pieces: an id stands for what an operation before it has created */
    texts: z.record(z.string(), z.array(z.union([z.string(), z.strictObject({ id: z.string() })]))).optional(),
  }),
  // A part of the bytes of a file that is attached to a card.
  z.strictObject({ file: z.strictObject({ card_id: z.string(), name: z.string() }), bytes: z.base64(), last: z.boolean() }),
])
export type BoardLine = z.infer<typeof boardLine>
/** One write on the board, as a batch of the API has it. */
export type BoardOperation = Extract<BoardLine, { operation: unknown }>
/** A part of a file. */
export type FilePart = Extract<BoardLine, { file: unknown }>
/** The board itself. */
export type BoardHead = Extract<BoardLine, { board: unknown }>['board']
