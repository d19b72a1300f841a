import { randomUUID } from 'node:crypto'
import { Call, type Surface } from '../http/call.ts'
import { conclude } from '../http/pipeline.ts'
import { SessionPrincipal } from '../http/principal.ts'
import type { Services } from '../http/services.ts'
import type { Change } from '../model/change.ts'
import { ApiError } from '../model/errors.ts'
import type { Webhook, WebhookProgress } from '../model/webhook.ts'
import { isOf } from '../model/workspace.ts'

/** The size of the body of a delivery, in bytes (src/http/webhooks.md, "What is sent"). */
const MAX_BODY = 256 * 1024

/** A part of the feed of a board. */
export interface FeedPart {
  readonly entries: readonly Change[]
  /** the cursor after them */
  readonly next: string
}

/**
 * The creator of a webhook, in the membership they had when they enabled it. A later membership does not count, as for tokens (spec §5).
 */
class CreatorPrincipal extends SessionPrincipal {
  readonly #enabled: Pick<WebhookProgress, 'membership_id' | 'enabled_at'>

  constructor(userId: string, workspaceId: string, enabled: Pick<WebhookProgress, 'membership_id' | 'enabled_at'>) {
    super(userId, workspaceId, { refusal: 'unauthorized' })
    this.#enabled = enabled
  }

  override async authenticate(...given: Parameters<SessionPrincipal['authenticate']>): ReturnType<SessionPrincipal['authenticate']> {
    const caller = await super.authenticate(...given)
    if (!isOf(caller.membership, this.#enabled)) throw new ApiError('unauthorized')
    // One of an earlier version, whose creator may have come back before memberships had ids.
    const { enabled_at } = this.#enabled
    if (enabled_at !== undefined && caller.membership.joined_at > enabled_at) throw new ApiError('unauthorized')
    return caller
  }
}

/**
 * Reads the feed of a board after the place of a webhook, as its creator: it is decided and recorded like a request of theirs, without a
 * token.
 * @returns the error that refused the request
 */
export async function readFeed(
  services: Services,
  workspaceId: string,
  { id, board_id, creator_id }: Pick<Webhook, 'id' | 'board_id' | 'creator_id'>,
  { cursor, ...enabled }: Pick<WebhookProgress, 'cursor' | 'membership_id' | 'enabled_at'>,
  limit: number,
): Promise<FeedPart | ApiError> {
  const identify = () => new CreatorPrincipal(creator_id, workspaceId, enabled)
  const surface: Surface = { name: 'webhook', isCounted: false, identify, related: id }
  const path = `/boards/${board_id}/changes`
  const search = `?${new URLSearchParams({ after: cursor, limit: String(limit) })}`
  const request = new Request(`http://localhost/v1${path}${search}`)
  const call = new Call(services, { request, requestId: randomUUID(), method: 'GET', path, search }, surface)
  const result = await conclude<{ readonly status: number; readonly found: FeedPart | ApiError }>(services, call, {
    answer: (answer) => ({ status: 200, found: partOf(answer) }),
    refuse: (error) => ({ status: error.status, found: error }),
  })
  return result.found
}

function partOf(answer: { readonly kind: string; readonly data?: unknown; readonly nextCursor?: string | null | undefined }): FeedPart {
  return { entries: answer.data as readonly Change[], next: answer.nextCursor! }
}

/**
 * How many of the first entries fit in one delivery, at least one.
 * @param kinds those that are delivered; null: all
 */
export function fittingCount(entries: readonly Change[], kinds: Webhook['kinds']): number {
  let bytes = 1024
  for (const [i, entry] of entries.entries()) {
    if (isWanted(entry, kinds)) bytes += Buffer.byteLength(JSON.stringify(entry)) + 1
    if (bytes > MAX_BODY) return Math.max(i, 1)
  }
  return entries.length
}

/** Whether a webhook is told of an entry. */
export function isWanted({ kind }: Change, kinds: Webhook['kinds']): boolean {
  return kinds === null || kinds.includes(kind)
}

/** What a delivery says of the feed. */
interface Contents {
  /** null in a test */
  readonly after: string | null
  readonly next: string | null
  readonly entries: readonly Change[]
}

/** The JSON of a delivery, whatever its size. */
export function messageOf({ id, board_id }: Pick<Webhook, 'id' | 'board_id'>, timestamp: string, contents: Contents): string {
  return JSON.stringify({ type: 'board.changed', timestamp, data: { webhook_id: id, board_id, ...contents } })
}

/** The body of a delivery. If its objects have grown since it was begun, so that it is too long, it has none: a receiver reads them. */
export function bodyOf(
  webhook: Pick<Webhook, 'id' | 'board_id'>,
  { after, next }: { readonly after: string; readonly next: string },
  entries: readonly Change[],
): string {
  // The last change's time: each attempt has the same.
  const body = (shown: readonly Change[]) => messageOf(webhook, entries.at(-1)!.at, { after, next, entries: shown })
  const whole = body(entries)
  return Buffer.byteLength(whole) > MAX_BODY ? body(entries.map((entry) => ({ ...entry, data: null }))) : whole
}
