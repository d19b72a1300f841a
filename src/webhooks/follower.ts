import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { timestamp } from '../model/time.ts'
import type { Delivery, WebhookProgress, WebhookRecord } from '../model/webhook.ts'
import { indexes } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { deliveryId, type Attempts } from './attempts.ts'
import { bodyOf, fittingCount, isWanted, readFeed, type FeedPart } from './feed.ts'
import { delayAfter, MAX_FAILING } from './schedule.ts'
import { Watch } from './watch.ts'

/** How long a follower waits for a change before it looks again, in milliseconds: a hint can be lost. */
const IDLE = 30_000

/** What a webhook has come to. */
type Changes = Partial<Omit<WebhookProgress, 'webhook_id' | 'board_id'>>

const WORKS = { state: 'active', reason: null, failing_since: null, failures: 0, next_at: null, begun: null } as const

/**
 * Follows the feed of the board of one webhook, and sends what is new in it: one delivery after the other (api: Contract 4, numbers 8 to 10).
 * Its place is stored, and nothing else: what is sent is read when it is sent, as its creator may read it then.
 */
export class Follower {
  readonly workspaceId: string
  readonly #id: string
  readonly #attempts: Attempts
  readonly #signal: AbortSignal

  constructor(workspaceId: string, id: string, attempts: Attempts, signal: AbortSignal) {
    this.workspaceId = workspaceId
    this.#id = id
    this.#attempts = attempts
    this.#signal = signal
  }

  /** Delivers until the webhook ends, or the signal comes. */
  async run(): Promise<void> {
    let watch: Watch | undefined
    try {
      while (!this.#signal.aborted) {
        const next = await this.#step()
        if (next === 'ended') return
        // What came before it is found by the next step.
        if (watch === undefined) {
          watch = new Watch(this.#attempts.services().store, this.workspaceId, indexes.changes(next.boardId).name, this.#signal)
          continue
        }
        if (next.wait > 0) await watch.wait(next.wait)
      }
    } finally {
      watch?.end()
    }
  }

  /** @returns how long to wait, in milliseconds; 0: there may be more */
  async #step(): Promise<'ended' | { readonly wait: number; readonly boardId: string }> {
    const { services, random } = this.#attempts
    const { store, clock } = services()
    const [webhook, progress] = await transact(store, this.workspaceId, random, (tx) =>
      tx.read([keys.webhook(this.#id), keys.webhookProgress(this.#id)]),
    )
    if (webhook === undefined || progress === undefined || !isFollowing(progress)) return 'ended'
    const at = (wait: number) => ({ wait, boardId: webhook.board_id })
    if (progress.next_at !== null && clock() < Date.parse(progress.next_at)) return at(Date.parse(progress.next_at) - clock())
    const part = await readFeed(services(), this.workspaceId, webhook, progress.cursor, progress.begun ?? limits.pageSize.max)
    if (part instanceof ApiError) return (await this.#refused(progress, part)) ? 'ended' : at(IDLE)
    if (part.entries.length === 0) return at(IDLE)
    const count = progress.begun ?? fittingCount(part.entries, webhook.kinds)
    // Before it is sent: after a crash, a repetition has the same changes and the same id.
    if (progress.begun === null) await this.#save(progress, { begun: count })
    if (count < part.entries.length) return at(0)
    await this.#deliver(webhook, progress, part)
    return at(0)
  }

  async #deliver(webhook: WebhookRecord, progress: WebhookProgress, part: FeedPart): Promise<void> {
    const { services } = this.#attempts
    const entries = part.entries.filter((entry) => isWanted(entry, webhook.kinds))
    const done = { cursor: part.next, begun: null }
    if (entries.length === 0) return this.#save(progress, done)
    const { clock } = services()
    const place = { after: progress.cursor, next: part.next }
    const body = bodyOf(webhook, place, entries, timestamp(clock))
    const attempt = await this.#attempts.send(
      this.workspaceId,
      webhook,
      { body, id: deliveryId(webhook, progress.cursor), entries: entries.length },
      this.#signal,
    )
    if (attempt === undefined) return undefined
    const { delivery, retryAfter } = attempt
    const isDone = delivery.status !== null && delivery.status >= 200 && delivery.status < 300
    await this.#save(progress, isDone ? { ...WORKS, ...done } : this.#failed(progress, delivery, retryAfter), delivery)
  }

  /** What a failure changes. */
  #failed({ failures: before, failing_since }: WebhookProgress, { status, error }: Delivery, retryAfter: number | undefined): Changes {
    const { services, random } = this.#attempts
    const now = services().clock()
    const said = error ?? `The receiver answered ${status}.`
    if (status === 410)
      return { ...WORKS, begun: null, state: 'disabled', reason: 'The receiver answered 410: it does not exist any more.' }
    const since = failing_since ?? timestamp(() => now)
    if (now - Date.parse(since) >= MAX_FAILING)
      return { ...WORKS, state: 'disabled', failing_since: since, reason: `It has failed for three days. ${said}` }
    const failures = before + 1
    const next_at = timestamp(() => now + delayAfter(failures, random, retryAfter))
    return { state: 'failing', reason: said, failing_since: since, failures, next_at }
  }

  /** The feed cannot be read. @returns whether the webhook ends with that */
  async #refused(progress: WebhookProgress, { code }: ApiError): Promise<boolean> {
    const end = ENDS[code]
    if (end !== undefined) await this.#save(progress, { ...WORKS, ...end })
    return end !== undefined
  }

  /** Stores what has changed, unless a person has set the webhook to another place since. */
  async #save(known: WebhookProgress, changes: Changes, delivery?: Delivery): Promise<void> {
    const { services, random } = this.#attempts
    await transact(services().store, this.workspaceId, random, async (tx) => {
      const [webhook, progress, before] = await tx.read([
        keys.webhook(this.#id),
        keys.webhookProgress(this.#id),
        keys.webhookDeliveries(this.#id),
      ])
      if (webhook === undefined || progress === undefined) return
      if (delivery !== undefined) {
        const deliveries = [delivery, ...(before?.deliveries ?? [])].slice(0, limits.deliveriesKept)
        tx.put(keys.webhookDeliveries(this.#id), { webhook_id: this.#id, deliveries })
      }
      if (progress.cursor !== known.cursor) return
      const { cursor, begun } = changes
      // What was delivered is delivered, also if a person has disabled it meanwhile.
      const kept = isFollowing(progress) ? changes : { ...(cursor !== undefined && { cursor, begun: begun ?? null }) }
      tx.put(keys.webhookProgress(this.#id), { ...progress, ...kept })
    })
  }
}

function isFollowing({ state }: WebhookProgress): boolean {
  return state === 'active' || state === 'failing'
}

/** The errors of a read that end a webhook. Others pass. */
const ENDS: Readonly<Partial<Record<ApiError['code'], Changes>>> = {
  not_found: { state: 'suspended', reason: 'Its creator may not read the board any more.' },
  forbidden: { state: 'suspended', reason: 'Its creator may not read the board any more.' },
  unauthorized: { state: 'suspended', reason: 'Its creator is no member of the workspace any more.' },
  cursor_expired: { state: 'disabled', reason: 'The feed does not keep the changes after its cursor any more.' },
}
