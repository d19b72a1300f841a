import { z } from 'zod'
import { changedKinds } from './change.ts'
import {
  timestamp,
  countField,
  documented,
  hash,
  idOf,
  idField,
  refuseRepetitions,
  resourceTimes,
  amount,
  textField,
  timeField,
} from './fields.ts'
import { limits } from './limits.ts'

/** What a webhook does (src/http/webhooks.md, "States"). */
const webhookStates = ['active', 'failing', 'suspended', 'disabled'] as const

/** The kinds of changes that a webhook is told of. */
export const webhookKinds = documented(z.array(z.enum(changedKinds)).min(1).max(changedKinds.length).superRefine(refuseRepetitions), {
  description: 'The kinds of the feed that are delivered; null: all of them.',
  uniqueItems: true,
})

export const webhookUrl = textField('Where deliveries are sent.', limits.webhookUrl)

/** The value of a header (RFC 9110 §5.5), in ASCII. */
export const webhookAuthorization = documented(
  z
    .string()
    .max(limits.webhookAuthorization)
    .regex(/^[!-~](?:[\t -~]*[!-~])?$/, 'must be ASCII characters that are seen, with spaces and tabs only between them'),
  {
    description: 'The `Authorization` header of each delivery, such as `Bearer …`. It is stored encrypted, and never shown.',
    minLength: 1,
    writeOnly: true,
  },
)

/** What a person has decided about a webhook. */
const configuration = {
  id: idField('webhook', 'The id of the webhook.'),
  board_id: idField('board', 'The board whose changes it follows.'),
  creator_id: idField('user', 'The user who created it. Each delivery has what they may read then.'),
  url: webhookUrl,
  kinds: webhookKinds.nullable(),
}

/** How far the deliveries of a webhook are, as the API shows it. */
const shownProgress = {
  state: documented(z.enum(webhookStates), {
    description:
      '`active`; `failing`: the last delivery has failed and is tried again; `suspended`: its creator may not read the board; `disabled`: by a person, after it has failed for three days, or because it was restored from a backup.',
  }),
  reason: textField('Why it is `failing`, `suspended` or `disabled`; null otherwise.', 200).nullable(),
  cursor: documented(z.string(), {
    description: 'The place in the feed; everything up to it was delivered: `after` of GET /boards/{board_id}/changes.',
    pattern: '^[A-Za-z0-9_-]+$',
    maxLength: 400,
  }),
  failing_since: timeField('Since when it fails; null: it does not.').nullable(),
}

/** A webhook, as the API returns it. */
export const webhook = documented(
  z.strictObject({
    ...configuration,
    has_authorization: documented(z.boolean(), { description: 'Whether deliveries have an `Authorization` header of its creator.' }),
    ...shownProgress,
    ...resourceTimes,
  }),
  {
    id: 'Webhook',
    description: 'A URL that the changes of a board are sent to.',
  },
)
export type Webhook = Readonly<z.infer<typeof webhook>>

/** A webhook as it is stored. Its secrets are sealed: the service must be able to read them. */
export const webhookRecord = z.strictObject({
  ...configuration,
  secret: z.string().max(400),
  /** the `Authorization` header, sealed like the secrets; null or absent: no such header */
  authorization: z.string().max(1000).nullable().optional(),
  /** the secrets before, the newest first: each signs too until a time */
  old_secrets: z
    .array(z.strictObject({ secret: z.string().max(400), until: timestamp }))
    .max(limits.oldSecrets)
    .readonly(),
  created_at: timestamp,
  updated_at: timestamp,
})
export type WebhookRecord = Readonly<z.infer<typeof webhookRecord>>

/** How far the deliveries of a webhook are. A record of its own: it changes with each delivery, and the webhook does not. */
export const webhookProgress = z.strictObject({
  webhook_id: idOf('webhook'),
  board_id: idOf('board'),
  ...shownProgress,
  /** the cursor after the last delivery: between it and the place are changes of kinds that are not delivered */
  delivered_to: shownProgress.cursor,
  /** the creator's membership when it was created or last enabled; in a later membership it is suspended. See `isOf` in workspace.ts */
  membership_id: idOf('membership').optional(),
  /** Only an earlier version has stored when that was, instead. */
  enabled_at: timestamp.optional(),
  /** how often it was enabled: so the process that delivers notices it. Absent: never again since it was created */
  enablings: amount.optional(),
  /** failures in a row */
  failures: amount,
  /** when it is tried again */
  next_at: timestamp.nullable(),
  /** the changes of the delivery that was begun: how many, so that a repetition has the same. null: none was begun */
  begun: z.int().min(1).max(limits.pageSize.max).nullable(),
  /** it was following when its backup was made, and is disabled since it was restored: somebody has to enable it */
  restored: z.literal(true).optional(),
})
export type WebhookProgress = Readonly<z.infer<typeof webhookProgress>>

/** An attempt at a delivery, as the API returns it. */
export const delivery = documented(
  z.strictObject({
    id: documented(z.string(), { description: 'The `webhook-id` of the delivery: the same for each attempt at it.', maxLength: 64 }),
    at: timeField('When it was sent.'),
    entries: countField('The number of changes that it had; 0: it was a test.', limits.pageSize.max),
    status: documented(z.int(), {
      description: 'The status of the answer; null without an answer.',
      format: 'int32',
      minimum: 100,
      maximum: 999,
    }).nullable(),
    duration_ms: countField('How long it took.', Number.MAX_SAFE_INTEGER),
    error: textField('Why there was no answer; null with one.', 200).nullable(),
  }),
  { id: 'Delivery', description: 'An attempt to send changes to a webhook.' },
)
export type Delivery = Readonly<z.infer<typeof delivery>>

/** Where the changes of a delivery are in the feed. They are not stored a second time: what was deleted would be kept here. */
const deliveredPart = z.strictObject({
  /** they come after it */
  cursor: shownProgress.cursor,
  /** how many they are, with those of kinds that are not delivered */
  count: z.int().min(1).max(limits.pageSize.max),
  /** the `after` of the delivery; absent: the cursor */
  after: shownProgress.cursor.optional(),
})

/** An attempt at a delivery, as it is stored. */
const deliveryRecord = delivery.extend({
  /** absent: it was a test, or an earlier version has stored it */
  part: deliveredPart.optional(),
})
export type DeliveryRecord = Readonly<z.infer<typeof deliveryRecord>>

/** The last attempts of a webhook, the newest first. */
export const webhookDeliveries = z.strictObject({
  webhook_id: idOf('webhook'),
  deliveries: z.array(deliveryRecord).max(limits.deliveriesKept).readonly(),
})
export type WebhookDeliveries = Readonly<z.infer<typeof webhookDeliveries>>

/** The progress of a webhook that works. */
export const WORKS = { state: 'active', reason: null, failing_since: null, failures: 0, next_at: null, begun: null } as const

/**
 * The progress of a webhook that was restored. A copy of a storage must not send to those who get the deliveries of the original. What was
 * begun stays: a repetition has the same changes.
 */
export const RESTORED = {
  state: 'disabled',
  reason: 'It was restored from a backup. Its creator can enable it, or the operator with "lanekeeper webhooks enable".',
  failing_since: null,
  failures: 0,
  next_at: null,
  restored: true,
} as const

/** Whether the deliveries of a webhook go on. */
export function isFollowing({ state }: Pick<WebhookProgress, 'state'>): boolean {
  return state === 'active' || state === 'failing'
}

/** Which process delivers (global): it counts the beats up as long as it lives. */
export const deliveryLease = z.strictObject({ holder: hash, beats: amount })
export type DeliveryLease = Readonly<z.infer<typeof deliveryLease>>
