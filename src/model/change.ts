import { z } from 'zod'
import { anyIdField, countField, documented, idField, timeField } from './fields.ts'
import { limits } from './limits.ts'
import { prose } from './text.ts'
import { tokenNameField } from './token.ts'

/** The kinds of resources that change on a board. */
export const changedKinds = [
  'board',
  'board_member',
  'column',
  'card',
  'claim',
  'work',
  'label',
  'subtask',
  'comment',
  'attachment',
] as const
export type ChangedKind = (typeof changedKinds)[number]

const kind = documented(z.enum(changedKinds), { description: 'The kind of the object.' })
const action = documented(
  z.enum(['created', 'updated', 'deleted', 'claimed', 'released', 'failed', 'stuck', 'asked', 'answered', 'retried']),
  {
    description:
      'What was done. What belongs to a deleted object is deleted with it, without changes of its own. Only a claim is `claimed` and `released`: a renewal is no change, and a claim that runs out has none. Only the `work` on a card has the others: an attempt that ended because its claim ran out is `failed` with the next write to the card or its claim.',
  },
)
const actor_id = documented(idField('user', 'The user who made the change; null: the service or its operator made it.').nullable(), {})
const token_id = documented(
  idField('token', 'The access token that made it; null: the service, its operator or a person in the web app made it.').nullable(),
  {},
)

const operation = documented(z.string().max(40), {
  description:
    'The operation that made the change, by its id, such as `cards.move`; of a batch, the one in the batch that wrote the object, or `boards.batch` if several did. null: no request made it, or it was made before operations were kept.',
}).nullable()
/** Members of an object, with what they were. */
const name = z.string().max(40)
const idOrTime = z.string().max(100)
const earlier = z.record(name, z.union([idOrTime, z.boolean(), z.null(), z.array(idOrTime).max(1000)]))
const changed = documented(z.array(z.string().max(40)).max(40), {
  description:
    'Of an updated object: the names of the members that changed, without `updated_at`. null: the change was made before they were kept.',
}).nullable()
const from = documented(earlier, {
  description: 'Of an updated object: what those members were before that are ids, lists of ids, times or booleans.',
}).nullable()

const token_name = tokenNameField(
  'The name of that token; null without one, and of changes that were made before names were kept.',
).nullable()

/** A change of an object on a board, as the API returns it. */
export const change = documented(
  z.strictObject({
    seq: countField(
      'The number of the change: changes of a board have increasing numbers, in the order of their commits.',
      Number.MAX_SAFE_INTEGER,
    ),
    at: timeField('When the change was made, by the clock of the process that made it.'),
    kind,
    id: anyIdField('The id of the object; of a board member, the id of the user; of a claim and of work, the id of the card.'),
    action,
    epoch: countField('Of a claim: its `epoch`.', Number.MAX_SAFE_INTEGER).optional(),
    attempts: countField('If work has failed: the attempts in a row that ended without success.', Number.MAX_SAFE_INTEGER).optional(),
    reason: documented(prose(limits.workText), {
      description: 'If work has failed: why; null if its claim expired.',
    })
      .nullable()
      .optional(),
    changed: changed.optional(),
    from: from.optional(),
    operation,
    actor_id,
    token_id,
    token_name,
    request_id: documented(z.string().max(200), { description: 'The request that made the change; null if none did.' }).nullable(),
    data: documented(z.looseObject({}), {
      description:
        'The object as it is when you read the change, so it can be newer than the change; null if it no longer exists. Of a deletion: the object as it was last, without a `description` or `body` of more than 500 characters; null if the deletion was made before it was kept. The same members as in the responses about this kind of object.',
    }).nullable(),
  }),
  { id: 'Change', description: 'A change of a board, or of an object on it.' },
)
export type Change = Readonly<z.infer<typeof change>>

/**
 * A change as it is stored: its key has the board and the number. Those of earlier versions have neither `operation` nor `token_name`. They
 * are not migrated: cursors name the revision of a change, so all of them would expire.
 */
export const changeRecord = change.omit({ seq: true, data: true }).extend({
  operation: operation.optional(),
  token_name: token_name.optional(),
  /** of a deletion: what was stored of the object, without long texts */
  last: z.looseObject({}).optional(),
})
export type ChangeRecord = Readonly<z.infer<typeof changeRecord>>

/** A stored change with the members that earlier versions did not store. */
export function wholeChange({ last: _last, ...change }: ChangeRecord): Omit<Change, 'seq' | 'data'> {
  const { operation: made = null, token_name: name = null } = change
  const whole = { ...change, operation: made, token_name: name }
  return change.action === 'updated' && change.changed === undefined ? { ...whole, changed: null, from: null } : whole
}
