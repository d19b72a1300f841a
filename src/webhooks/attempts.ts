import { SecretKeyError } from '../auth/secret-keys.ts'
import { sha256Hex } from '../auth/secrets.ts'
import type { Services } from '../http/services.ts'
import type { DeliveryBudget } from '../governor/delivery-budget.ts'
import { conflict } from '../model/errors.ts'
import { newId, type RandomSource } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import type { Delivery, WebhookRecord } from '../model/webhook.ts'
import { TESTED } from '../resources/webhooks/abilities.ts'
import { keys } from '../store/keys.ts'
import { messageOf } from './feed.ts'
import { Places } from './places.ts'
import { send as sendTo, type Answer } from './send.ts'
import { sign } from './signature.ts'
import type { Targets } from './targets.ts'

/** How long a webhook waits after a delivery that had all changes, in milliseconds: what comes meanwhile is one delivery. */
const PAUSE = 250

/** What deliveries need. */
export interface DeliveryDeps {
  readonly services: () => Services
  readonly random: RandomSource
  readonly targets: Targets
  /**
   * opens a secret that is sealed for a record.
   * @throws {SecretKeyError}
   */
  readonly open: (sealed: string, owner: string) => string
  /** what the deliveries of a person may cost; default: that is not limited */
  readonly budget?: DeliveryBudget | undefined
  /** sends; another function is for tests only */
  readonly send?: typeof sendTo | undefined
  /** instead of {@link PAUSE}, for tests only */
  readonly pause?: number | undefined
}

/** The attempts of this process that were made. */
export interface DeliveryCounts {
  readonly delivered: number
  readonly failed: number
}

/** What is sent. */
export interface Outgoing {
  readonly body: string
  /** the `webhook-id` */
  readonly id: string
  /** how many entries of the feed it has */
  readonly entries: number
}

/** An attempt that was made. */
export interface Attempt {
  readonly delivery: Delivery
  /** what the receiver has asked for, in seconds */
  readonly retryAfter?: number | undefined
}

/** The `webhook-id` of some changes after a place: the same for each attempt at them, and another one for more, fewer or other kinds. */
export function deliveryId({ id, kinds }: Pick<WebhookRecord, 'id' | 'kinds'>, after: string, count: number): string {
  return `msg_${sha256Hex([id, after, count, ...(kinds ?? []).toSorted()].join(' ')).slice(0, 32)}`
}

/** Whether a receiver has taken a delivery. */
export function isSuccess({ status }: Pick<Delivery, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

/** What a delivery is signed with, and the header that its receiver asks for. */
interface OpenedSecrets {
  readonly secrets: readonly [string, ...string[]]
  readonly authorization: string | undefined
}

/** Sends deliveries. */
export class Attempts {
  readonly #deps: DeliveryDeps
  readonly places = new Places()
  /** the webhooks that are being tested */
  readonly #tests = new Set<string>()
  readonly #counts = { delivered: 0, failed: 0 }

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
  }

  /** What was counted since the start. Tests of a receiver count too. */
  get counts(): DeliveryCounts {
    return { ...this.#counts }
  }

  get services(): DeliveryDeps['services'] {
    return this.#deps.services
  }

  get random(): RandomSource {
    return this.#deps.random
  }

  get budget(): DeliveryBudget | undefined {
    return this.#deps.budget
  }

  /** How long a webhook waits after a delivery, in milliseconds. */
  get pause(): number {
    return this.#deps.pause ?? PAUSE
  }

  /**
   * Sends a delivery without entries. It takes no place of a delivery: a receiver that is tested delays no changes.
   * @returns undefined if the service stops
   * @throws {ApiError} `conflict` if the webhook is being tested already
   */
  async sendTest(webhook: WebhookRecord): Promise<Attempt | undefined> {
    const { services, random } = this.#deps
    if (this.#tests.has(webhook.id)) throw conflict(TESTED)
    this.#tests.add(webhook.id)
    try {
      const id = `msg_${newId('webhook', random).slice(4)}`
      const body = messageOf(webhook, timestamp(services().clock), { after: null, next: null, entries: [] })
      return await this.send(webhook, { body, id, entries: 0 }, services().stopping ?? NEVER)
    } finally {
      this.#tests.delete(webhook.id)
    }
  }

  /** @returns undefined if the signal came before there was an answer: nothing is known of the attempt then */
  async send(webhook: WebhookRecord, { body, id, entries }: Outgoing, signal: AbortSignal): Promise<Attempt | undefined> {
    if (signal.aborted) return undefined
    const { services, targets, send = sendTo } = this.#deps
    const { clock } = services()
    const at = timestamp(clock)
    const begun = clock()
    const made = (answer: Answer | { readonly error: string }): Attempt => {
      const { status = null, error = null, retryAfter } = answer as Partial<Answer> & { readonly error?: string }
      const sent: Delivery = { id, at, entries, status, duration_ms: Math.max(0, clock() - begun), error }
      this.#counts[isSuccess(sent) ? 'delivered' : 'failed']++
      return { delivery: sent, retryAfter }
    }
    const found = await targets.resolve(webhook.url, signal)
    if ('error' in found) return signal.aborted ? undefined : made(found)
    const opened = this.#secretsOf(webhook)
    if (opened === undefined) return made({ error: 'secret not readable' })
    const { secrets, authorization } = opened
    const headers = {
      ...sign({ secrets, id, timestamp: Math.floor(clock() / 1000), body }),
      'user-agent': 'Lanekeeper',
      ...(authorization !== undefined && { authorization }),
    }
    const answer = await send({ url: webhook.url, address: found.address, body, headers, signal }, { clock })
    return 'error' in answer && signal.aborted ? undefined : made(answer)
  }

  /** @returns undefined if they cannot be opened: the operator has to state their key */
  #secretsOf({ id, secret, old_secrets, authorization }: WebhookRecord): OpenedSecrets | undefined {
    const { services, open } = this.#deps
    const { clock, log } = services()
    const owner = keys.webhook(id)
    try {
      const old = old_secrets.filter(({ until }) => clock() < Date.parse(until))
      return {
        secrets: [open(secret, owner), ...old.map((one) => open(one.secret, owner))],
        authorization: authorization == null ? undefined : open(authorization, owner),
      }
    } catch (error) {
      if (!(error instanceof SecretKeyError)) throw error
      log.error({ event: 'secrets.unusable', webhook_id: id, reason: error.message }, 'a webhook cannot be signed')
      return undefined
    }
  }
}

const NEVER = new AbortController().signal
