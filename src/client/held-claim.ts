import { ApiError } from './errors.ts'
import type { Input } from './input.ts'
import type { OperationRow } from './methods.ts'
import { operations, type Card, type Claim } from './operations.ts'
import type { RetryPolicy } from './retries.ts'
import { patiently, sleep, type Caller, type Options, type Repeating, type Timers, type Transport } from './transport.ts'

/**
 * The reason of the signal of a handler whose claim is lost: it has run out, or the service has answered that another may hold the card.
 */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
  readonly card_id: string

  constructor(card_id: string, cause?: unknown) {
    super('the claim of the card is lost: change nothing more', { cause })
    this.card_id = card_id
  }
}

/** What a claim is kept with. */
export interface ClaimDeps {
  readonly transport: Transport
  readonly timers: Timers
  /** the time since any moment, in milliseconds, by a clock that nobody sets */
  readonly monotonic: () => number
  readonly retries: RetryPolicy
  /** milliseconds within which each attempt must be answered */
  readonly timeout: number
  readonly onRetry: Repeating['onRetry']
  /** in seconds */
  readonly ttl: number
}

/** Operations that end the claim of the card. */
const ENDING: ReadonlySet<OperationRow> = new Set([
  operations['cards.archive'],
  operations['cards.delete'],
  operations['claims.release'],
  operations['claims.fail'],
  operations['claims.ask'],
])

/** What hangs on a card and has an id of its own. */
const ON_A_CARD = /^\/(?:subtasks|comments|attachments)\//

/**
 * A claim of the calling token: it is renewed until it ends. Calls through it send `If-Claim` with each write to its card, and fail once
 * it is lost. Until when it is held follows from the duration that the service states, counted from before the request was sent, by a clock
 * that nobody sets: so it is never believed to be held for longer than the service does.
 */
export class HeldClaim implements Caller {
  readonly #deps: ClaimDeps
  readonly #claim: Claim
  readonly #lost = new AbortController()
  readonly #stop = new AbortController()
  #deadline = 0
  #sentAt = 0
  #timer: unknown
  #isEnded = false

  /** @param sentAt when it was asked for, by the monotonic clock */
  constructor(deps: ClaimDeps, claim: Claim, sentAt: number) {
    this.#deps = deps
    this.#claim = claim
    this.#prolong(claim, sentAt)
  }

  /** Is aborted with {@link ClaimLost}. */
  get lost(): AbortSignal {
    this.#check()
    return this.#lost.signal
  }

  /** Whether the claim was ended through this: the card was completed, archived, deleted or released, or has failed or asked. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /**
   * Renews the claim at a third of its time, until it is lost or stopped. One that was waited for for long is renewed before this resolves.
   */
  async keep(): Promise<void> {
    if (this.#deps.monotonic() >= this.#renewAt) await this.#renew()
    void this.#renewFromTimeToTime()
  }

  /** Renews it no more. */
  stop(): void {
    this.#stop.abort()
    this.#deps.timers.clearTimeout(this.#timer)
  }

  async call(row: OperationRow, input: Input, options?: Options): ReturnType<Transport['call']> {
    return this.#send(row, input, options)
  }

  /** Calls an operation on the card, through every outage, while the claim is held. */
  async insist(row: OperationRow, input: Input = {}): Promise<void> {
    await this.#send(row, { ...input, card_id: this.#claim.card_id }, {}, this.#patience)
  }

  async #send(row: OperationRow, input: Input, options: Options = {}, repeating?: Repeating): ReturnType<Transport['call']> {
    this.#check()
    this.#lost.signal.throwIfAborted()
    const signal = options.signal === undefined ? this.#lost.signal : AbortSignal.any([options.signal, this.#lost.signal])
    const stated = this.#isOn(row, input) ? { ifClaim: this.#claim.epoch } : {}
    try {
      const result = await this.#deps.transport.call(row, input, { ...stated, ...options, signal }, repeating)
      if (options.dryRun !== true && this.#isEndedBy(row, input, result.data)) this.#end()
      return result
    } catch (error) {
      if (!this.#isEnded && error instanceof ApiError && 'current_claim' in error.members) this.#lose(error)
      throw error
    }
  }

  #isOn({ method, path }: OperationRow, { card_id }: Input): boolean {
    if (method === 'GET') return false
    return path.startsWith('/cards/{card_id}') ? card_id === this.#claim.card_id : ON_A_CARD.test(path)
  }

  #isEndedBy(row: OperationRow, { card_id, completed }: Input, data: unknown): boolean {
    if (card_id !== this.#claim.card_id) return false
    // A column can complete its cards.
    if (row === operations['cards.move']) return (data as Card).completed_at !== null
    return ENDING.has(row) || (row === operations['cards.complete'] && completed === true)
  }

  #end(): void {
    this.#isEnded = true
    this.stop()
  }

  #lose(cause?: unknown): void {
    this.stop()
    this.#lost.abort(new ClaimLost(this.#claim.card_id, cause))
  }

  /** A process that was stopped finds out here, before its timers do. */
  #check(): void {
    if (!this.#isEnded && !this.#lost.signal.aborted && this.#deps.monotonic() >= this.#deadline) this.#lose()
  }

  #prolong({ expires_at, renewed_at }: Claim, sentAt: number): void {
    const { timers, monotonic } = this.#deps
    this.#sentAt = sentAt
    this.#deadline = sentAt + Date.parse(expires_at) - Date.parse(renewed_at)
    timers.clearTimeout(this.#timer)
    this.#timer = timers.setTimeout(() => this.#check(), Math.max(0, this.#deadline - monotonic()))
  }

  get #renewAt(): number {
    return this.#sentAt + (this.#deps.ttl * 1000) / 3
  }

  get #patience(): Repeating {
    const { retries, ttl, onRetry } = this.#deps
    return patiently({ ...retries, maxDelay: Math.min(retries.maxDelay, ttl * 100) }, onRetry)
  }

  async #renewFromTimeToTime(): Promise<void> {
    const { timers, monotonic } = this.#deps
    try {
      for (;;) {
        await sleep(timers, Math.max(0, this.#renewAt - monotonic()), this.#stop.signal)
        await this.#renew()
      }
    } catch {
      // It is stopped.
    }
  }

  /**
   * A renewal that is refused, for whatever reason, leaves nothing to rely on.
   * @throws {Error} if the claim is lost or stopped
   */
  async #renew(): Promise<void> {
    const { transport, monotonic, timeout, ttl } = this.#deps
    this.#check()
    const { signal } = this.#stop
    signal.throwIfAborted()
    const { card_id, epoch } = this.#claim
    const sentAt = monotonic()
    // It needs no idempotency key: with If-Claim, it can be repeated.
    const options = { ifClaim: epoch, idempotencyKey: false, signal, timeout: Math.min(timeout, (ttl * 1000) / 3) } as const
    try {
      const { data } = await transport.call(operations['claims.take'], { card_id, ttl }, options, this.#patience)
      if (!signal.aborted) this.#prolong(data as Claim, sentAt)
    } catch (error) {
      if (!signal.aborted) this.#lose(error)
      throw error
    }
  }
}
