import { z } from 'zod'
import { cursorOf, decodeCursor, encodeCursor, listPage, pageQuery } from '../../listing/pages.ts'
import { ApiError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { invalidMember } from '../../model/validation.ts'
import { documented } from '../../model/fields.ts'
import { DAY, timestamp } from '../../model/time.ts'
import {
  delivery,
  isFollowing,
  webhook,
  webhookAuthorization,
  webhookKinds,
  webhookUrl,
  WORKS,
  type Webhook,
  type WebhookProgress,
  type WebhookRecord,
} from '../../model/webhook.ts'
import { newId } from '../../model/ids.ts'
import { membershipOf } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { capacityMessage } from '../capacity.ts'
import { CHANGES, NOW, readChanges, readEnd, type FeedBoard } from '../changes/feed.ts'
import { atLeastOne, deleted, isDryRun, operation, type OperationRequest } from '../operation.ts'
import { parentBoard, webhookTarget } from '../targets.ts'
import { deletedResult } from '../writes.ts'
import { TESTED, WEBHOOKS } from './abilities.ts'
import { requireFurtherCapacity } from './capacity.ts'
import { addDelivery, readDeliveries, removeDeliveries } from './deliveries.ts'

const after = documented(z.union([z.literal(NOW), cursorOf(CHANGES)], { error: 'must be a cursor of the feed of the board, or "now"' }), {
  description: 'Where deliveries begin: a cursor of the feed of the board, or `now`.',
})
const url = documented(webhookUrl.min(1), { format: 'uri' })

const webhookCreate = z.strictObject({
  url,
  kinds: webhookKinds.nullable().default(null),
  authorization: webhookAuthorization.nullable().optional(),
  after: after.default(NOW),
})
const webhookUpdate = z
  .strictObject({
    url,
    kinds: webhookKinds.nullable(),
    authorization: webhookAuthorization.nullable(),
    enabled: documented(z.boolean(), { description: 'Whether changes are sent.' }),
    after: after,
  })
  .partial()
  .refine((body) => body.after === undefined || body.enabled === true, { path: ['after'], message: 'only beside "enabled": true' })

const secret = documented(z.string(), {
  description: 'The secret that signs deliveries. It is shown once: the answer to a repetition with the same Idempotency-Key has null.',
  maxLength: 100,
}).nullable()
/** A webhook with its secret. */
const webhookWithSecret = documented(webhook.extend({ secret }), {
  id: 'WebhookWithSecret',
  description: 'A webhook with its secret, which is shown once.',
})

/**
 * Where deliveries begin.
 * @param after a position in the feed, or {@link NOW}
 * @throws {ApiError} `cursor_expired`
 */
async function placeOf(request: FeedRequest, board: FeedBoard, after: string): Promise<string> {
  if (after === NOW) return readEnd(request.tx, board.id)
  await readChanges(request, board, after, 1)
  return encodeCursor(CHANGES, after)
}
type FeedRequest = Pick<OperationRequest, 'tx' | 'clock'>

/**
 * How far a webhook is after an update; undefined: nothing changes.
 * @throws {ApiError} `cursor_expired`
 */
async function changesOf(
  request: OperationRequest<unknown, z.infer<typeof webhookUpdate>>,
  board: FeedBoard,
  before: WebhookProgress,
): Promise<WebhookProgress | undefined> {
  const { url, enabled, after } = request.body
  if (enabled === false) return { ...before, ...DISABLED }
  // What was begun goes on: a repetition has the same changes.
  const works = { ...WORKS, begun: isFollowing(before) ? before.begun : null }
  // Another receiver is tried when it is time for the next attempt: a change of the URL must not be a way to send more often.
  if (enabled === undefined)
    return url !== undefined && before.state === 'failing' ? { ...before, failing_since: timestamp(request.clock) } : undefined
  const { membership_id: _membership, enabled_at: _enabledAt, enablings = 0, ...rest } = before
  const own = { ...rest, ...membershipOf(request.caller.membership), enablings: enablings + 1 }
  if (after === undefined) {
    await requireKept(request, board, before)
    return { ...own, ...works }
  }
  const cursor = await placeOf(request, board, after)
  return { ...own, ...WORKS, cursor, delivered_to: cursor }
}

/**
 * Requires that a webhook can go on where it is.
 * @throws {ApiError} `cursor_expired`
 */
async function requireKept(request: FeedRequest, board: FeedBoard, { cursor }: WebhookProgress): Promise<void> {
  try {
    await readChanges(request, board, decodeCursor(CHANGES, cursor)!, 1)
  } catch (error) {
    throw error instanceof ApiError && error.code === 'cursor_expired' ? new ApiError('cursor_expired', { message: NOT_KEPT }) : error
  }
}
const NOT_KEPT = 'The feed does not keep the changes after the cursor of the webhook any more: enable it with "after": "now".'

const DISABLED = { ...WORKS, state: 'disabled', reason: 'It was disabled by its creator.' } as const
/** What a dry run of a test answers. */
const NOT_SENT = { id: '', entries: 0, status: null, duration_ms: 0, error: 'not sent: this is a dry run' } as const

function toWebhook(
  { id, board_id, creator_id, url, kinds, authorization, created_at, updated_at }: WebhookRecord,
  { state, reason, cursor, failing_since }: WebhookProgress,
): Webhook {
  const has_authorization = authorization != null
  return { id, board_id, creator_id, url, kinds, has_authorization, state, reason, cursor, failing_since, created_at, updated_at }
}

async function progressOf(tx: Transaction, { id }: Pick<WebhookRecord, 'id'>): Promise<WebhookProgress> {
  return (await tx.get(keys.webhookProgress(id)))!
}

/** A result that has a secret, once: neither a dry run nor a repetition has it. */
function withSecret(request: OperationRequest, shown: Webhook, secret: string) {
  const without = { ...shown, secret: null }
  return { data: isDryRun(request) ? without : { ...shown, secret }, remembered: without }
}

/** @throws {ApiError} `validation_failed` */
async function requireUrl(request: Pick<OperationRequest, 'use'>, url: string): Promise<void> {
  const refusal = await request.use(WEBHOOKS).refusalOf(url)
  if (refusal !== undefined) throw invalidMember('url', refusal)
}

/**
 * Requires that a header which was meant for one receiver is not sent to another one: nobody can read it, so nobody may send it elsewhere.
 * @throws {ApiError} `validation_failed`
 */
function requireOwnAuthorization(before: WebhookRecord, { url, authorization }: z.infer<typeof webhookUpdate>): void {
  if (url === undefined || authorization !== undefined || before.authorization == null) return
  if (new URL(url).origin !== new URL(before.url).origin)
    throw invalidMember('authorization', 'must be stated too, or null: the present one belongs to another host')
}

/** Webhooks of a board (src/http/webhooks.md, "Operations"; row X12). */
export const webhookOperations = [
  operation({
    id: 'webhooks.list',
    method: 'GET',
    path: '/boards/{board_id}/webhooks',
    summary: 'Lists the webhooks of a board, oldest first.',
    needs: ['read', 'Webhook'],
    row: 'X12',
    query: z.strictObject(pageQuery('webhooks.list')),
    data: z.array(webhook),
    target: parentBoard,
    async run({ tx, query }, { board }) {
      const page = await listPage(tx, 'webhooks.list', indexes.webhooks(board.id), query)
      const progress = await tx.read(page.data.map(({ id }) => keys.webhookProgress(id)))
      return { ...page, data: page.data.map((one, i) => toWebhook(one, progress[i]!)) }
    },
  }),

  operation({
    id: 'webhooks.read',
    method: 'GET',
    path: '/webhooks/{webhook_id}',
    summary: 'Returns a webhook and the progress of its deliveries.',
    needs: ['read', 'Webhook'],
    row: 'X12',
    entity: undefined,
    data: webhook,
    target: webhookTarget,
    async run({ tx }, loaded) {
      return { data: toWebhook(loaded.webhook, await progressOf(tx, loaded.webhook)) }
    },
  }),

  operation({
    id: 'webhooks.create',
    method: 'POST',
    path: '/boards/{board_id}/webhooks',
    summary: 'Creates a webhook: the changes of the board that you may read are sent to a URL. Its secret is shown once.',
    needs: ['create', 'Webhook'],
    row: 'X12',
    body: webhookCreate,
    codes: ['cursor_expired'],
    data: webhookWithSecret,
    status: 201,
    capacity: ['webhooksPerBoard', indexes.webhooks],
    conflicts: [capacityMessage('webhooksPerPerson'), capacityMessage('webhooksPerWorkspace')],
    example: { body: { url: 'https://ci.example/hooks/lanekeeper', kinds: ['card', 'work'] } },
    target: parentBoard,
    async run(request, { board }) {
      const { tx, random, clock, caller, body } = request
      const webhooks = request.use(WEBHOOKS)
      await requireFurtherCapacity(request)
      await requireUrl(request, body.url)
      if (!isDryRun(request)) await webhooks.register(caller.workspaceId)
      const id = newId('webhook', random)
      const made = await webhooks.newSecret(tx, id, random)
      const now = timestamp(clock)
      const record: WebhookRecord = {
        id,
        board_id: board.id,
        creator_id: caller.userId,
        url: body.url,
        kinds: body.kinds,
        secret: made.sealed,
        ...(body.authorization != null && { authorization: await webhooks.seal(tx, id, body.authorization) }),
        old_secrets: [],
        created_at: now,
        updated_at: now,
      }
      const cursor = await placeOf(request, board, body.after)
      const progress: WebhookProgress = {
        webhook_id: id,
        board_id: board.id,
        cursor,
        delivered_to: cursor,
        ...membershipOf(caller.membership),
        ...WORKS,
      }
      tx.create(keys.webhook(id), record)
      tx.create(keys.webhookProgress(id), progress)
      return { ...withSecret(request, toWebhook(record, progress), made.secret), location: `/webhooks/${id}`, entity: null }
    },
  }),

  operation({
    id: 'webhooks.update',
    method: 'PATCH',
    path: '/webhooks/{webhook_id}',
    summary: 'Changes the URL or the kinds of a webhook, or enables or disables it. Only its creator can.',
    needs: ['update', 'Webhook'],
    row: 'X12',
    entity: undefined,
    body: atLeastOne(webhookUpdate),
    codes: ['cursor_expired'],
    data: webhook,
    example: { body: { enabled: false } },
    target: webhookTarget,
    async run(request, loaded) {
      const { tx, clock, body, caller } = request
      const webhooks = request.use(WEBHOOKS)
      const { url, kinds, authorization } = body
      if (url !== undefined) await requireUrl(request, url)
      requireOwnAuthorization(loaded.webhook, body)
      const sealed = authorization == null ? authorization : await webhooks.seal(tx, loaded.webhook.id, authorization)
      const stated = {
        ...(url !== undefined && { url }),
        ...(kinds !== undefined && { kinds }),
        ...(sealed !== undefined && { authorization: sealed }),
      }
      const record = { ...loaded.webhook, ...stated, updated_at: timestamp(clock) }
      tx.put(keys.webhook(record.id), record)
      const before = await progressOf(tx, record)
      const changes = await changesOf(request, loaded.board, before)
      if (changes === undefined) return { data: toWebhook(record, before) }
      // Whether it is enabled is decided now.
      const { restored: _restored, ...progress } = changes
      tx.put(keys.webhookProgress(record.id), progress)
      if (!isDryRun(request)) await webhooks.register(caller.workspaceId)
      return { data: toWebhook(record, progress) }
    },
  }),

  operation({
    id: 'webhooks.delete',
    method: 'DELETE',
    path: '/webhooks/{webhook_id}',
    summary: 'Deletes a webhook. Its creator can, and everyone who may delete the board.',
    needs: ['delete', 'Webhook'],
    row: 'X12',
    entity: undefined,
    data: deleted,
    target: webhookTarget,
    async run({ tx }, { webhook: { id } }) {
      await removeDeliveries(tx, id)
      tx.remove(keys.webhook(id))
      return deletedResult(id)
    },
  }),

  operation({
    id: 'webhooks.rotate_secret',
    method: 'POST',
    path: '/webhooks/{webhook_id}/secret',
    summary: 'Makes a new secret, which is shown once. The old one also signs for 24 hours.',
    needs: ['rotate_secret', 'Webhook'],
    row: 'X12',
    entity: undefined,
    data: webhookWithSecret,
    target: webhookTarget,
    async run(request, { webhook: before }) {
      const { tx, clock, random } = request
      const { secret, sealed } = await request.use(WEBHOOKS).newSecret(tx, before.id, random)
      const until = timestamp(() => clock() + DAY)
      const old = before.old_secrets.filter((one) => clock() < Date.parse(one.until))
      const old_secrets = [{ secret: before.secret, until }, ...old].slice(0, limits.oldSecrets)
      const record: WebhookRecord = { ...before, secret: sealed, old_secrets, updated_at: timestamp(clock) }
      tx.put(keys.webhook(record.id), record)
      return withSecret(request, toWebhook(record, await progressOf(tx, before)), secret)
    },
  }),

  operation({
    id: 'webhooks.test',
    method: 'POST',
    path: '/webhooks/{webhook_id}/test',
    summary: 'Sends a delivery without entries now, and returns the outcome.',
    needs: ['test', 'Webhook'],
    row: 'X12',
    entity: undefined,
    data: delivery,
    conflicts: [TESTED],
    target: webhookTarget,
    async run(request, { webhook: tested }) {
      if (isDryRun(request)) return { data: { ...NOT_SENT, at: timestamp(request.clock) } }
      const delivery = await request.once(() => request.use(WEBHOOKS).sendTest(tested))
      await addDelivery(request.tx, tested.id, delivery)
      return { data: delivery }
    },
  }),

  operation({
    id: 'webhooks.deliveries',
    method: 'GET',
    path: '/webhooks/{webhook_id}/deliveries',
    summary: 'Lists the last attempts to deliver, the newest first.',
    needs: ['read', 'Webhook'],
    row: 'X12',
    data: z.array(delivery),
    target: webhookTarget,
    async run({ tx }, { webhook: { id } }) {
      // Where the changes of each are is for the web app, which reads them as the person may read them then.
      return { data: (await readDeliveries(tx, id)).map(({ part: _part, ...shown }) => shown), nextCursor: null }
    },
  }),
]
