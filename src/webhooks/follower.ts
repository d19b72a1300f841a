import { Readers } from '../authz/readers.ts'
import type { Reservation } from '../governor/delivery-budget.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { timestamp } from '../model/time.ts'
import { isFollowing, WORKS, type Delivery, type DeliveryRecord, type WebhookProgress, type WebhookRecord } from '../model/webhook.ts'
import { readEnd } from '../resources/changes/feed.ts'
import { addDelivery } from '../resources/webhooks/deliveries.ts'
import { SERVICE } from '../store/derivation.ts'
import { indexes } from '../store/indexes.ts'
import { keys } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { transact } from '../store/transact.ts'
import { Watch } from '../store/watch.ts'
import { deliveryId, isSuccess, type Attempts } from './attempts.ts'
import { bodyOf, fittingCount, isWanted, readFeed, type FeedPart } from './feed.ts'
import { delayAfter, MAX_FAILING } from './schedule.ts'

/**
 * How long a follower waits for a change before it looks again, in milliseconds: a hint of another process can be lost, and one of this
 * process cannot.
 */
const IDLE = { remote: 30_000, local: 600_000 }

/** When a follower goes on. `delivered`: after a pause, when there is a change; or after a time in milliseconds. */
type Next = 'now' | 'change' | 'delivered' | number

/** What a webhook has come to. */
type Changes = Partial<Omit<WebhookProgress, 'webhook_id' | 'board_id'>>

/** An attempt that was made. */
interface Made {
  readonly delivery?: DeliveryRecord
  /**
   * what it has come to if its URL was changed meanwhile: the failure of another receiver says nothing of this one, but the next attempt is
   * not made earlier
   */
  readonly ifMoved?: Changes
}
const BEFORE_MOVE = { status: null, error: 'It failed before its URL was changed.' } as const

/** When a follower ends. */
export interface Ends {
  /** no further delivery begins */
  readonly stop: AbortSignal
  /** the delivery that is under way is not waited for any more */
  readonly cut: AbortSignal
}

/**
 * Follows the feed of a webhook's board and sends its new entries, one delivery after the other (src/http/webhooks.md, "Webhooks" and
 * "Failures"). Only the place in the feed is stored: each delivery is read when it is sent, with the access of the webhook's creator then.
 */
export class Follower {
  readonly #workspaceId: string
  readonly #id: string
  readonly #attempts: Attempts
  readonly #ends: Ends
  readonly #watch: Watch
  /** when the next attempt may begin */
  #reservation: Reservation | undefined
  /** when the oldest change was made that is not delivered; undefined: none is known */
  waitingSince: string | undefined

  constructor(workspaceId: string, id: string, attempts: Attempts, ends: Ends) {
    this.#workspaceId = workspaceId
    this.#id = id
    this.#attempts = attempts
    this.#ends = ends
    this.#watch = new Watch(ends.stop)
  }

  /** Looks again now: something of the webhook may have changed. */
  lookAgain(): void {
    this.#watch.hint()
  }

  /** Delivers until the webhook ends, or the signal comes. */
  async run(): Promise<void> {
    try {
      while (!this.#ends.stop.aborted) {
        const next = await this.#step()
        if (next === 'ended') return
        await this.#wait(next)
      }
    } finally {
      this.#watch.end()
    }
  }

  async #wait(next: Next): Promise<void> {
    if (next === 'now') return
    const idle = IDLE[this.#attempts.services().store.isRemote ? 'remote' : 'local']
    if (next === 'change') return this.#watch.wait(idle)
    // Waiting for the next attempt costs nothing: the deliverer reports changes by other processes.
    if (next !== 'delivered') return this.#watch.wait(next, false)
    await this.#watch.wait(this.#attempts.pause, false)
    await this.#watch.wait(idle)
  }

  async #step(): Promise<'ended' | Next> {
    const found = await this.#look()
    if (typeof found !== 'object') return found
    const { budget, places } = this.#attempts
    const { creator_id: creatorId, url } = found.webhook
    this.#reservation ??= budget?.reserve(this.#workspaceId, creatorId)
    const wait = this.#reservation?.wait ?? 0
    if (wait > 0) return wait
    const place = { workspaceId: this.#workspaceId, creatorId, receiver: new URL(url).host }
    const free = places.take(place)
    await free
    try {
      // To wait for a place can take long: what is sent, and where to, is read after that.
      const due = free === undefined ? found : await this.#look()
      if (typeof due !== 'object') return due
      this.#reservation = undefined
      return await this.#send(due)
    } finally {
      places.release(place)
    }
  }

  /**
   * Reads whether there is something to send now.
   * @returns when it goes on, if there is not
   */
  async #look(): Promise<'ended' | Next | { readonly webhook: WebhookRecord; readonly progress: WebhookProgress }> {
    const { services, random } = this.#attempts
    const { store, clock } = services()
    const found = await transact(store, this.#workspaceId, random, (tx) => this.#read(tx))
    if (found === undefined) return 'ended'
    const { webhook, progress, isAtEnd } = found
    // What came before the watch began is found by the next step.
    if (this.#watch.begin(store, this.#workspaceId, indexes.changes(webhook.board_id).name)) return 'now'
    const untilNext = progress.next_at === null ? 0 : Date.parse(progress.next_at) - clock()
    if (untilNext > 0) {
      this.waitingSince ??= progress.failing_since ?? undefined
      return untilNext
    }
    if (isAtEnd) {
      this.waitingSince = undefined
      return 'change'
    }
    return this.#ends.stop.aborted ? 'now' : found
  }

  async #send({ webhook, progress }: { readonly webhook: WebhookRecord; readonly progress: WebhookProgress }): Promise<'ended' | Next> {
    const limit = progress.begun ?? limits.pageSize.max
    const part = await readFeed(this.#attempts.services(), this.#workspaceId, webhook, progress, limit)
    if (part instanceof ApiError) return (await this.#refused(webhook, progress, part)) ? 'ended' : 'change'
    this.waitingSince = part.entries.find((entry) => isWanted(entry, webhook.kinds))?.at
    if (part.entries.length === 0) return 'change'
    return this.#handle(webhook, progress, part, limit)
  }

  /** @returns undefined if it has ended. Where it is at the end of the feed, nothing has to be decided. */
  async #read(tx: Transaction) {
    const [webhook, progress] = await tx.read([keys.webhook(this.#id), keys.webhookProgress(this.#id)])
    if (webhook === undefined || progress === undefined || !isFollowing(progress)) return undefined
    return { webhook, progress, isAtEnd: (await readEnd(tx, webhook.board_id)) === progress.cursor }
  }

  /** @param limit of how many changes the part may have */
  async #handle(webhook: WebhookRecord, progress: WebhookProgress, part: FeedPart, limit: number): Promise<Next> {
    const read = part.entries.length
    if (!part.entries.some((entry) => isWanted(entry, webhook.kinds))) {
      await this.#save(webhook, progress, { cursor: part.next, begun: null })
      return 'now'
    }
    // Fewer than were begun: their objects have grown since, and do not fit in a page. It is another delivery then.
    const begun = progress.begun === null ? fittingCount(part.entries, webhook.kinds) : read
    // Before it is sent: after a crash, a repetition has the same changes and the same id.
    const isBegun = progress.begun === begun || (await this.#save(webhook, progress, { begun }))
    if (!isBegun || begun < read) return 'now'
    const isDelivered = await this.#deliver(webhook, { ...progress, begun }, part)
    return isDelivered && read < limit ? 'delivered' : 'now'
  }

  /** @returns whether the receiver has taken it */
  async #deliver(webhook: WebhookRecord, progress: WebhookProgress & { readonly begun: number }, part: FeedPart): Promise<boolean> {
    const { cursor, begun, delivered_to } = progress
    const entries = part.entries.filter((entry) => isWanted(entry, webhook.kinds))
    const body = bodyOf(webhook, { after: delivered_to, next: part.next }, entries)
    const outgoing = { body, id: deliveryId(webhook, cursor, begun), entries: entries.length }
    this.#attempts.budget?.charge(this.#workspaceId, webhook.creator_id, Buffer.byteLength(body))
    const attempt = await this.#attempts.send(webhook, outgoing, this.#ends.cut)
    if (attempt === undefined) return false
    const { delivery: sent, retryAfter } = attempt
    const place = { cursor, count: begun, ...(delivered_to !== cursor && { after: delivered_to }) }
    const delivery = { ...sent, part: place }
    if (isSuccess(delivery)) {
      await this.#save(webhook, progress, { ...WORKS, cursor: part.next, delivered_to: part.next }, { delivery })
      return true
    }
    const ifMoved = this.#failed({ ...progress, failing_since: null }, { ...delivery, ...BEFORE_MOVE }, undefined)
    await this.#save(webhook, progress, this.#failed(progress, delivery, retryAfter), { delivery, ifMoved })
    return false
  }

  /** What a failure changes. */
  #failed({ failures: before, failing_since }: WebhookProgress, { status, error }: Delivery, retryAfter: number | undefined): Changes {
    const { services, random } = this.#attempts
    const now = services().clock()
    const said = error ?? `The receiver answered ${status}.`
    if (status === 410) return { ...WORKS, state: 'disabled', reason: 'The receiver answered 410: it does not exist any more.' }
    const since = failing_since ?? timestamp(() => now)
    if (now - Date.parse(since) >= MAX_FAILING)
      return { ...WORKS, state: 'disabled', failing_since: since, reason: `It has failed for three days. ${said}` }
    const failures = before + 1
    const next_at = timestamp(() => now + delayAfter(failures, random, retryAfter))
    return { state: 'failing', reason: said, failing_since: since, failures, next_at }
  }

  /**
   * The feed cannot be read.
   * @returns whether the webhook ends with that
   */
  async #refused(webhook: WebhookRecord, progress: WebhookProgress, { code }: ApiError): Promise<boolean> {
    const end = ENDS[code]
    if (end !== undefined) await this.#save(webhook, progress, { ...WORKS, ...end })
    return end !== undefined
  }

  /**
   * Stores what has changed, unless a person has set the webhook to another place since.
   * @returns whether it is stored
   */
  async #save(webhook: WebhookRecord, known: WebhookProgress, wanted: Changes, { delivery, ifMoved }: Made = {}): Promise<boolean> {
    const { services, random } = this.#attempts
    return transact(services().store, this.#workspaceId, random, async (tx) => {
      const [stored, progress] = await tx.read([keys.webhook(this.#id), keys.webhookProgress(this.#id)])
      if (stored === undefined || progress === undefined) return false
      if (delivery !== undefined) await addDelivery(tx, this.#id, delivery)
      if (progress.cursor !== known.cursor) return false
      const isMoved = ifMoved !== undefined && stored.url !== webhook.url
      // Who enables a webhook wants it to be tried at once.
      if (isMoved && progress.enablings !== known.enablings) return false
      const changes = isMoved ? ifMoved : wanted
      const { clock, engine } = services()
      if (changes.state === 'disabled') tx.logChanges(SERVICE, clock, new Readers(engine, this.#workspaceId))
      const { cursor, delivered_to, begun } = changes
      // For a moment, two processes may deliver: what one of them has begun is what both send.
      if (typeof begun === 'number' && progress.begun !== known.begun) return false
      // What was delivered is delivered, also if a person has disabled it meanwhile.
      if (isFollowing(progress)) tx.put(keys.webhookProgress(this.#id), { ...progress, ...changes })
      else if (cursor !== undefined && delivered_to !== undefined)
        tx.put(keys.webhookProgress(this.#id), { ...progress, cursor, delivered_to, begun: null })
      return isFollowing(progress)
    })
  }
}

/** The errors of a read that end a webhook. Others pass. */
const ENDS: Readonly<Partial<Record<ApiError['code'], Changes>>> = {
  not_found: { state: 'suspended', reason: 'Its creator may not read the board any more.' },
  forbidden: { state: 'suspended', reason: 'Its creator may not read the board any more.' },
  unauthorized: { state: 'suspended', reason: 'The membership of its creator has ended.' },
  cursor_expired: { state: 'disabled', reason: 'The feed does not keep the changes after its cursor any more.' },
}
