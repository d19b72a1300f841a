import { tokenOf, type Caller } from '../authz/context.ts'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { Clock } from '../model/time.ts'
import { Counters, type SharedCounters } from '../store/counters.ts'
import { unitsOfUploads } from './cost.ts'

/** The length of a window in seconds. */
const WINDOW = 60
/** How many counts are remembered: a token, a workspace, an address and a person have one each. */
const MAX_KEYS = 200_000

/** How much is accepted in each minute, in units: see {@link Cost}. */
export interface RateQuotas {
  /** units of one token */
  readonly token: number
  /** units in one workspace */
  readonly workspace: number
  /** failed credentials from one address */
  readonly address: number
}

/** The number of requests of one token that may be in progress: from authentication until the response was sent. */
const MAX_IN_FLIGHT = 64

/** How many tokens without a request in progress are kept: to add and remove one for each request takes microseconds. */
const KEPT_IDLE = 1000

/** How many pages, parts of pages and forms a person may open or send for each request of a token. */
const PAGES_PER_REQUEST = 4

export interface RateLimitOptions {
  readonly quotas: RateQuotas
  /** default: {@link MAX_IN_FLIGHT} */
  readonly inFlight?: number
  /** the counters that all processes share; default: this process counts alone */
  readonly shared?: SharedCounters | undefined
}

/** A limit, and what remains of it. */
interface RateState {
  readonly name: keyof RateQuotas
  readonly remaining: number
}

/** Limits the requests of each token and in each workspace, and the failed credentials of each address. */
export class RateLimits {
  readonly #quotas: RateQuotas
  /** what the header RateLimit-Policy states about each limit, and about both limits of a request */
  readonly #policies: Readonly<Record<keyof RateQuotas | 'request', string>>
  readonly #clock: Clock
  readonly #counters: Counters
  readonly #maxInFlight: number
  /** id of a token → its requests in progress */
  readonly #inFlight = new Map<string, number>()

  constructor({ quotas, shared, inFlight = MAX_IN_FLIGHT }: RateLimitOptions, clock: Clock) {
    this.#quotas = quotas
    const policyOf = (name: keyof RateQuotas) => `"${name}";q=${quotas[name]};w=${WINDOW}`
    const [token, workspace] = [policyOf('token'), policyOf('workspace')]
    this.#policies = { token, workspace, address: policyOf('address'), request: `${token}, ${workspace}` }
    this.#clock = clock
    // A shared count must be forgotten after the end of its window.
    this.#counters = new Counters({ clock, lifetime: 2000 * WINDOW, most: MAX_KEYS, shared })
    this.#maxInFlight = inFlight
  }

  /** Exchanges the counts with the shared counters now. */
  settle(): Promise<void> {
    return this.#counters.settle()
  }

  /**
   * Counts a request of a token, in its workspace too.
   * @param by how many it counts as
   */
  countRequest(caller: Caller, by = 1): Awaitable<RateState[]> {
    return andThen(this.#countWithin('token', tokenOf(caller).id, by), (ofToken): Awaitable<RateState[]> => {
      // A refusal to one token must not take units from the others.
      if (ofToken.remaining < 0) return [ofToken, this.#read('workspace', caller.workspaceId)]
      return andThen(this.#countWithin('workspace', caller.workspaceId, by), (ofWorkspace) => [ofToken, ofWorkspace])
    })
  }

  /**
   * Counts the bytes that a token, or a person in the web app, uploads.
   * @param id of either
   * @returns what they cost, in units
   */
  countUpload(id: string, bytes: number): number {
    const all = this.#counters.add(this.#keyOf('upload', id), bytes)
    return unitsOfUploads(all) - unitsOfUploads(all - bytes)
  }

  /**
   * Counts work that is done, whatever remains.
   * @param by in units
   */
  countDone(caller: Caller, by: number): RateState[] {
    return this.countDoneOf(tokenOf(caller).id, caller.workspaceId, by)
  }

  /** Counts work that is done for a token of a workspace: see {@link countDone}. */
  countDoneOf(tokenId: string, workspaceId: string, by: number): RateState[] {
    return [this.#count('token', tokenId, by), this.#count('workspace', workspaceId, by)]
  }

  /**
   * Counts a page, a part of one, or a form that a person opens or sends in the web app, or its additional cost. A page with images is many
   * of them.
   * @param by in units
   * @returns undefined if they may; otherwise the seconds until they may
   */
  countPage(userId: string, by = 1): number | undefined {
    return this.#secondsBeyond('person', userId, this.#quotas.token * PAGES_PER_REQUEST, by)
  }

  /**
   * Counts a form that takes access away, for its session alone: whoever has stolen another session of the person cannot use up what this
   * one needs to end that.
   * @returns as {@link countPage}
   */
  countEnd(sessionId: string): number | undefined {
    return this.#secondsBeyond('session', sessionId, this.#quotas.token)
  }

  #secondsBeyond(name: 'person' | 'session', id: string, limit: number, by = 1): number | undefined {
    return this.#counters.add(this.#keyOf(name, id), by) > limit ? this.#remainingSeconds : undefined
  }

  /**
   * Counts the cost of a token's stream.
   * @param by in units
   * @returns undefined if it may go on; otherwise the seconds until it may
   */
  countStream(caller: Caller, by: number): number | undefined {
    return this.countDone(caller, by).some(({ remaining }) => remaining < 0) ? this.#remainingSeconds : undefined
  }

  /**
   * Counts a failed credential.
   * @param network the client's network, which is limited like one address
   */
  countFailure(network: string): RateState[] {
    return [this.#count('address', network)]
  }

  /** The state of the limit of an address. Nothing is counted. */
  addressState(network: string): RateState[] {
    return [this.#read('address', network)]
  }

  /**
   * The headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers), and Retry-After if a limit is exceeded.
   * @param states a negative rest means that the limit is exceeded
   * @param isRefused whether the request is refused then
   */
  headersOf(states: readonly RateState[], isRefused = true): Readonly<Record<string, string>> {
    const seconds = this.#remainingSeconds
    const policy = this.#policies[states.length > 1 ? 'request' : states[0]!.name]
    let rate = ''
    let isExceeded = false
    for (const { name, remaining } of states) {
      rate += `${rate === '' ? '' : ', '}"${name}";r=${Math.max(remaining, 0)};t=${seconds}`
      isExceeded ||= remaining < 0
    }
    if (!isExceeded || !isRefused) return { 'ratelimit-policy': policy, ratelimit: rate }
    return { 'ratelimit-policy': policy, ratelimit: rate, 'retry-after': String(seconds) }
  }

  /**
   * Begins a request of a token, or a stream of a person.
   * @returns a function that ends it; undefined if too many are in progress
   */
  enter(id: string): (() => void) | undefined {
    const count = this.#inFlight.get(id) ?? 0
    if (count >= this.#maxInFlight) return undefined
    this.#inFlight.set(id, count + 1)
    return () => this.#leave(id)
  }

  #leave(tokenId: string): void {
    const count = this.#inFlight.get(tokenId)! - 1
    // Stryker disable next-line ConditionalExpression,EqualityOperator,LogicalOperator: whether a count of 0 is kept differs in memory only
    if (count === 0 && this.#inFlight.size > KEPT_IDLE) this.#inFlight.delete(tokenId)
    else this.#inFlight.set(tokenId, count)
  }

  #count(name: keyof RateQuotas, id: string, by = 1): RateState {
    return this.#stateOf(name, this.#counters.add(this.#keyOf(name, id), by))
  }

  #countWithin(name: keyof RateQuotas, id: string, by: number): Awaitable<RateState> {
    return andThen(this.#counters.addWithin(this.#quotas[name], this.#keyOf(name, id), by), (count) => this.#stateOf(name, count))
  }

  #read(name: keyof RateQuotas, id: string): RateState {
    return this.#stateOf(name, this.#counters.read(this.#keyOf(name, id)))
  }

  /** Each window has counts of its own. */
  #keyOf(name: keyof RateQuotas | 'person' | 'session' | 'upload', id: string): string {
    return `${Math.floor(this.#clock() / 1000 / WINDOW)}:${name}:${id}`
  }

  /** The seconds until the current window ends, at least 1. */
  get #remainingSeconds(): number {
    return WINDOW - Math.floor((this.#clock() / 1000) % WINDOW)
  }

  #stateOf(name: keyof RateQuotas, count: number): RateState {
    return { name, remaining: this.#quotas[name] - count }
  }
}

/**
 * A call that another request makes, such as a tool of MCP. That request was counted, and is in progress until its own response was sent:
 * the first call is the one that it was counted for.
 */
export type ExchangePart = 'first' | 'further'

/** The facts about a call that the limits use. */
interface Limited {
  /** of its client */
  readonly network: string
}

/** What a call may use of the rate limits. Its attempts are counted once. */
export class Quota {
  /** the headers of the response */
  headers: Readonly<Record<string, string>> = {}
  /** the limit that was exceeded */
  exceeded: keyof RateQuotas | 'in_flight' | undefined
  readonly #limits: RateLimits | undefined
  readonly #call: Limited
  readonly #isPart: boolean
  #charged: boolean
  /** the error that it has refused the call with */
  #refusal: ApiError | undefined
  #chargedFurther = 0
  #chargedStored = 0
  #chargedUpload = 0
  #caller: Caller | undefined
  /** Is to be called when the response has been sent. Undefined: the call is not counted among those in progress. */
  leave: (() => void) | undefined

  /**
   * @param limits undefined: nothing is limited
   * @param part undefined: it is no part of an exchange
   */
  constructor(limits: RateLimits | undefined, call: Limited, part?: ExchangePart) {
    this.#limits = limits
    this.#call = call
    this.#isPart = part !== undefined
    this.#charged = part === 'first'
  }

  /**
   * Counts the call of an authenticated caller.
   * @throws {ApiError} `rate_limited`
   */
  charge(caller: Caller): Awaitable<void> {
    this.#caller = caller
    // A further attempt is not let through.
    if (this.#refusal !== undefined) throw this.#refusal
    if (this.#charged) return undefined
    this.#charged = true
    return andThen(this.#require(caller, 1), () => this.#enter(caller))
  }

  /** @throws {ApiError} `rate_limited`, if a limit is exceeded then */
  #require(caller: Caller, units: number): Awaitable<void> {
    const limits = this.#limits
    if (limits === undefined || units <= 0) return undefined
    return andThen(limits.countRequest(caller, units), (states) => {
      this.#setStates(limits, states)
      if (this.exceeded !== undefined) throw (this.#refusal = new ApiError('rate_limited'))
    })
  }

  #enter(caller: Caller): void {
    if (this.#limits === undefined || this.#isPart) return
    this.leave = this.#limits.enter(tokenOf(caller).id)
    if (this.leave !== undefined) return
    this.exceeded = 'in_flight'
    throw (this.#refusal = new ApiError('rate_limited', { message: TOO_MANY_AT_ONCE, headers: { 'retry-after': '1' } }))
  }

  /**
   * Counts the units that a call costs beyond the first one, before its work is done, unless they were counted before. So its attempts are
   * counted once.
   * @throws {ApiError} `rate_limited`
   */
  chargeFurther(caller: Caller, units: number): Awaitable<void> {
    const missing = units - this.#chargedFurther
    this.#chargedFurther += Math.max(missing, 0)
    return this.#require(caller, missing)
  }

  /**
   * Counts the bytes of an upload that were not counted before: those that it announces before they are read, the rest afterwards.
   * @throws {ApiError} `rate_limited`
   */
  chargeUpload(caller: Caller, bytes: number): Awaitable<void> {
    return this.#require(caller, this.#countUpload(caller, bytes))
  }

  /** Counts the bytes of an upload that has failed. */
  chargeFailedUpload(caller: Caller, bytes: number): void {
    this.chargeDone(this.#countUpload(caller, bytes))
  }

  /** @returns what the bytes cost that were not counted before, in units */
  #countUpload(caller: Caller, bytes: number): number {
    const missing = bytes - this.#chargedUpload
    if (missing <= 0 || this.#limits === undefined) return 0
    this.#chargedUpload = bytes
    return this.#limits.countUpload(tokenOf(caller).id, missing)
  }

  /** Counts the remaining cost of finished work. Nothing is refused: what exceeds the limit is missing later. */
  chargeDone(units: number): void {
    if (units > 0 && this.#caller !== undefined && this.#limits !== undefined)
      this.headers = this.#limits.headersOf(this.#limits.countDone(this.#caller, units), false)
  }

  /**
   * Counts the bytes that its commit stores for its Idempotency-Key ({@link limits.keptBytes}).
   * @throws {ApiError} `rate_limited`
   */
  chargeStored(caller: Caller, bytes: number): Awaitable<void> {
    const missing = Math.floor(bytes / limits.keptBytes) - this.#chargedStored
    this.#chargedStored += Math.max(missing, 0)
    return this.#require(caller, missing)
  }

  /** Counts the bytes that it has left in the decision log. It is done, so only the next requests can be refused. */
  addLogged(bytes: number): void {
    const units = Math.floor(bytes / limits.keptBytes)
    // Stryker disable next-line ConditionalExpression,EqualityOperator: to count nothing changes nothing, but takes time for each request
    if (this.#caller !== undefined && units > 0) this.#limits?.countDone(this.#caller, units)
  }

  /**
   * Counts a failed credential, and makes sure that the response has its headers, too.
   * @returns the error of the response: `rate_limited` if the address failed too often
   */
  fail(error: ApiError): ApiError {
    const limits = this.#limits
    if (this.#charged || limits === undefined) return error
    const failed = error.code === 'unauthorized'
    this.#setStates(limits, failed ? limits.countFailure(this.#call.network) : limits.addressState(this.#call.network))
    return failed && this.exceeded !== undefined ? new ApiError('rate_limited') : error
  }

  #setStates(limits: RateLimits, states: readonly RateState[]): void {
    this.headers = limits.headersOf(states)
    this.exceeded = states.find(({ remaining }) => remaining < 0)?.name
  }
}

const TOO_MANY_AT_ONCE = 'Too many requests of this token are in progress. Wait for their responses.'
