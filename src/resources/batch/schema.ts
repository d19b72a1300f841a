import { z } from 'zod'
import { documented, idField } from '../../model/fields.ts'
import { limits } from '../../model/limits.ts'
import { Ability } from '../operation.ts'

const item = z.strictObject({
  operation: documented(z.string().max(100), { description: 'The id of a write on the board, such as `cards.create`.', maxLength: 100 }),
  params: documented(z.record(z.string().max(100), z.string().max(100)).default({}), {
    description:
      'The parameters of its path. `board_id` may be left out. `$0` stands for the id of what the first operation of the batch has created, and so on; also in the members of a body that are ids.',
    maxProperties: 10,
  }),
  body: documented(z.unknown(), { description: 'Its body, if it has one.' }).optional(),
  if_match: documented(
    z
      .string()
      .regex(/^[\x21-\x7e ]{1,100}$/, 'must be an ETag')
      .optional(),
    {
      description:
        'As If-Match of the operation: an ETag that must be current. A resource that an earlier operation of the batch has written has no current one.',
      maxLength: 100,
    },
  ),
  if_claim: documented(z.int().min(1).optional(), {
    format: 'int64',
    description:
      'As If-Claim of the operation. A claim that an earlier operation of the batch has ended, such as by completing the card, does not count.',
  }),
})

/** Several writes on a board. */
export const batch = documented(
  z.strictObject({
    operations: documented(z.array(item).min(1).max(limits.batchOperations), {
      description: 'The writes, in their order. Each is decided on its own.',
      maxItems: limits.batchOperations,
    }),
  }),
  { id: 'Batch', description: 'Several writes on a board.' },
)
export type BatchItem = z.output<typeof item>

const result = documented(
  z.strictObject({
    operation: documented(z.string(), { description: 'The id of the operation.', maxLength: 100 }),
    data: documented(z.looseObject({}), {
      description: 'What the operation answers as `data`: the resource after this operation, without the changes of later ones.',
    }),
    etag: documented(z.string(), {
      description:
        'The ETag that the operation answers; null if it has none, or if a later operation of the batch has changed or deleted the resource.',
      maxLength: 100,
    }).nullable(),
  }),
  { description: 'The answer of one operation of a batch.' },
)

/** What the operations of a batch answer. */
export const batchResults = documented(
  z.strictObject({
    board_id: idField('board', 'The board.'),
    results: documented(z.array(result), {
      description: 'The answers, in the order of the operations.',
      maxItems: limits.batchOperations,
    }),
  }),
  { id: 'BatchResults', description: 'The answers of the operations of a batch.' },
)
export type BatchResult = z.output<typeof result>

/**
 * Performs other operations on a board in the transaction of the request, each decided as if it were requested alone.
 * @throws {ApiError} the error of the first one that fails, with its `index`
 */
export const PERFORM = new Ability<(boardId: string, items: readonly BatchItem[]) => Promise<BatchResult[]>>()
