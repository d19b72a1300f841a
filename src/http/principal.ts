import { parseToken } from '../auth/tokens/format.ts'
import { expiryOf, expiryTextOf, isFromFuture, stateOf } from '../auth/tokens/lifecycle.ts'
import { equalInConstantTime, sha256Hex } from '../auth/secrets.ts'
import type { Caller, SessionCaller, TokenCaller } from '../authz/context.ts'
import { Readers } from '../authz/readers.ts'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import { durations } from '../model/durations.ts'
import { ApiError } from '../model/errors.ts'
import { isId } from '../model/ids.ts'
import type { TokenRecord } from '../model/token.ts'
import { isActive, isOf, type Membership } from '../model/workspace.ts'
import { keys } from '../store/keys.ts'
import { memberOf } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import type { AttemptRecord } from './decision-record.ts'
import type { Services } from './services.ts'

/**
 * Who a call is made by: a token, or the session of a person. What differs between them is how they are authenticated; both are decided
 * by the same tables, and a session has no scope (see {@link Caller}).
 */
export interface Principal {
  /** the workspace, whose records an attempt reads */
  readonly partition: string
  /** for a token: the hash that its record is found by */
  readonly tokenHash: string | undefined
  /** the hashed owner of the Idempotency-Keys: nobody else's requests match them */
  readonly keyOwner: string
  /** the token that the last attempt has found, also if it is not accepted */
  readonly presented: TokenRecord | undefined
  /**
   * Identifies the caller in the transaction, so that the end of a token, a session or a membership holds for the very next request (spec
   * §5, rule 4).
   * @throws {ApiError} `unauthorized`; `not_found` for a person who is no member
   */
  authenticate(services: Services, tx: Transaction, record: AttemptRecord): Awaitable<Caller>
}

const CREDENTIAL = /^Bearer +([A-Za-z0-9_]+) *$/i

/** A personal access token (spec §5). */
export class TokenPrincipal implements Principal {
  readonly partition: string
  readonly tokenHash: string
  presented: TokenRecord | undefined
  readonly #isSeen: boolean

  /**
   * Parses the token of an Authorization header (RFC 6750 §2.1). This reads no storage. One that was accepted before is known by its hash.
   * @throws {ApiError} `unauthorized` if the token is missing, malformed, or not the only one
   */
  constructor(header: string | null, { seenTokens, legacyPrefixes }: Pick<Services, 'seenTokens' | 'legacyPrefixes'>) {
    const plaintext = header?.match(CREDENTIAL)?.[1]
    if (plaintext === undefined) throw new ApiError('unauthorized')
    const hash = sha256Hex(plaintext)
    const seen = seenTokens.get(hash)
    const workspaceId = seen?.workspaceId ?? parseToken(plaintext, legacyPrefixes)?.workspaceId
    if (workspaceId === undefined) throw new ApiError('unauthorized')
    this.partition = workspaceId
    this.tokenHash = hash
    // Stryker disable next-line ConditionalExpression: see where it is used
    this.#isSeen = seen !== undefined
  }

  get keyOwner(): string {
    return this.tokenHash
  }

  /** The same error for each reason. */
  authenticate(services: Services, tx: Transaction, record: AttemptRecord): Awaitable<TokenCaller> {
    const read = tx.read(credentialReads(this.tokenHash))
    return andThen(read, ([token, membership]) => this.#accept(services, tx, record, token, membership))
  }

  #accept(
    services: Services,
    tx: Transaction,
    record: AttemptRecord,
    token: TokenRecord | undefined,
    membership: Membership | undefined,
  ): TokenCaller {
    const { tokenHash: hash, partition: workspaceId } = this
    if (token === undefined) throw new ApiError('unauthorized')
    this.presented = token
    if (!equalInConstantTime(token.hash, hash)) throw new ApiError('unauthorized')
    const now = services.clock()
    const state = stateOf(token, now)
    if (state === 'rotated' && !tx.isUnverified) logReplacedToken(services, record, token)
    if (state === 'expired' && isFromFuture(token, now)) logClock(services, token)
    if (state !== 'active' || !isActive(membership) || !isOf(membership, token)) throw new ApiError('unauthorized')
    const { id, user_id: userId, name } = token
    record.userId = userId
    record.workspaceId = workspaceId
    record.tokenId = id
    if (expiryOf(token) - now <= durations.tokenEndsSoon) record.tokenExpires = expiryTextOf(token)
    // Stryker disable next-line ConditionalExpression: it only saves an object for each request
    if (!this.#isSeen) services.seenTokens.set(hash, { workspaceId, scopes: token.scopes })
    const author = { actor_id: userId, token_id: id, token_name: name, request_id: record.requestId }
    tx.logChanges(author, services.clock, new Readers(services.engine, workspaceId))
    return { userId, workspaceId, membership, token }
  }
}

/** What is read of a token and its user. */
export function credentialReads(hash: string) {
  const token = keys.token(hash)
  return [token, keys.membership(memberOf(token, 'user_id'))] as const
}

/** A rotated token is still in use: its user forgot a copy, or it was stolen. */
function logReplacedToken({ log }: Services, { requestId }: AttemptRecord, { id, user_id, replaced_by }: TokenRecord): void {
  log.warn({ event: 'token.replaced_used', request_id: requestId, token_id: id, replaced_by, user_id }, 'a replaced token was used')
}

/** The logs that have the line of {@link logClock}. */
const told = new WeakSet<Services['log']>()

/** The clock of this machine is behind by more than processes tolerate: once in its life, a process says why it refuses valid tokens. */
function logClock({ log }: Services, { id, issued_at }: TokenRecord): void {
  if (told.has(log)) return
  told.add(log)
  const because = 'tokens that were issued later than it shows are refused until it is right'
  log.error(
    { event: 'clock.behind', token_id: id, issued_at },
    `the clock of this machine was set back by more than five minutes: ${because}`,
  )
}

interface SessionOptions {
  readonly refusal?: 'not_found' | 'unauthorized'
  readonly isQuiet?: boolean
}

/** A person in one of their workspaces: signed in to the web app, or as whom an operator acts. */
export class SessionPrincipal implements Principal {
  readonly tokenHash = undefined
  readonly presented = undefined
  readonly #userId: string
  readonly #workspaceId: string
  readonly #refusal: 'not_found' | 'unauthorized'
  readonly #isQuiet: boolean

  /**
   * @param userId the user of a session that is valid now, or whom an operator has named
   * @param options `refusal` of those who are no members: people in the web app do not learn that there is such a workspace; `isQuiet`:
   * nobody gets a notice, because what is brought from elsewhere is news to nobody
   */
  constructor(userId: string, workspaceId: string, { refusal = 'not_found', isQuiet = false }: SessionOptions = {}) {
    this.#userId = userId
    this.#workspaceId = workspaceId
    this.#refusal = refusal
    this.#isQuiet = isQuiet
  }

  /** No token has this text: it is not a token. */
  get keyOwner(): string {
    return sha256Hex(`the person ${this.#userId}`)
  }

  /** @throws {ApiError} `not_found` unless it is the id of a workspace */
  get partition(): string {
    if (!isId('workspace', this.#workspaceId)) throw new ApiError('not_found')
    return this.#workspaceId
  }

  async authenticate(services: Services, tx: Transaction, record: AttemptRecord): Promise<SessionCaller> {
    const [userId, workspaceId] = [this.#userId, this.#workspaceId]
    Object.assign(record, { userId, workspaceId })
    const membership = await tx.get(keys.membership(userId))
    if (!isActive(membership)) throw new ApiError(this.#refusal)
    const author = { actor_id: userId, token_id: null, token_name: null, request_id: record.requestId }
    const notifying = this.#isQuiet ? undefined : new Readers(services.engine, workspaceId)
    tx.logChanges(author, services.clock, notifying)
    return { userId, workspaceId, membership, isSession: true }
  }
}
