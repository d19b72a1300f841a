import type { Logger } from 'pino'
import type { AuditRecorder } from '../audit/recorder.ts'
import type { UsageRecorder } from '../auth/tokens/usage.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { ApiError } from '../model/errors.ts'
import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { TokenRecord } from '../model/token.ts'
import type { Engine } from '../policy/engine.ts'
import type { Blobs } from '../store/blobs.ts'
import type { Ability, Operation, OperationRequest } from '../resources/operation.ts'
import type { Store } from '../store/port.ts'
import type { RequestLog } from './decision-log.ts'
import type { AttemptRecord, Sink } from './decision-record.ts'
import type { RunningKeys } from './idempotency.ts'
import type { Recalls } from './recalls.ts'
import type { Cost } from '../governor/cost.ts'
import type { RateLimits } from '../governor/quotas.ts'
import type { Turn, Turns } from '../governor/turns.ts'
import type { Route } from './routes.ts'

/** What never changes of a token (spec §5). Each request reads its token again, and decides on that. */
interface SeenToken extends Pick<TokenRecord, 'scopes'> {
  readonly workspaceId: string
}

/** The tokens that were accepted before, by hash. */
export interface SeenTokens {
  get(hash: string): SeenToken | undefined
  set(hash: string, token: SeenToken): unknown
}

/** An attempt at a request whose row uses an ability. */
export interface UsingAttempt {
  readonly services: Services
  readonly unit: OperationRequest
  readonly record: AttemptRecord
  readonly turn: Pick<Turn, 'spent' | 'take'>
  /**
   * Charges for work before it is done.
   * @param stated all of it until now, and what follows
   * @throws {ApiError} `rate_limited`
   */
  chargeStated(stated: Partial<Pick<Cost, 'operations' | 'questions'>>): Awaitable<void>
}

/** What the pipeline depends on. */
export interface Services {
  readonly engine: Engine
  /**
   * the services with the policy that is in use now. A request keeps the services it began with, so that no part of it is decided by other
   * tables.
   */
  readonly current: () => Services
  readonly store: Store
  /** `/v1`, below the path of the public URL, for the addresses of created resources */
  readonly apiPath: string
  readonly route: (method: string, path: string) => Route | ApiError
  /** the operations table */
  readonly operations: readonly Operation[]
  /** what gives the abilities that rows of it use */
  readonly abilities: ReadonlyMap<Ability<unknown>, (attempt: UsingAttempt) => unknown>
  /** prefixes of tokens issued before a rename, without `_pat_` (spec §5) */
  readonly legacyPrefixes: readonly string[]
  readonly blobs: Blobs
  /** the maximum size of an upload in bytes */
  readonly uploadBytes: number
  /** the bytes that the files of a workspace may have; Infinity: there is no limit */
  readonly workspaceBytes: number
  readonly usage: UsageRecorder
  /** undefined: there is no audit trail */
  readonly audit?: AuditRecorder | undefined
  readonly seenTokens: SeenTokens
  /** undefined: requests are not limited */
  readonly rateLimits?: RateLimits | undefined
  readonly turns: Turns
  readonly runningKeys: RunningKeys
  readonly recalls: Recalls
  /** is aborted when the service stops: requests that wait for something are then answered */
  readonly stopping?: AbortSignal | undefined
  readonly clock: Clock
  readonly random: RandomSource
  /** the number of records that one commit of a cascade may change; the tests use small ones */
  readonly batch?: number | undefined
  readonly log: Logger
  /** undefined: records are not stored */
  readonly decisionLog?: RequestLog | undefined
  readonly sinks: readonly Sink[]
  /** the number of trusted proxies that append to X-Forwarded-For */
  readonly proxies: number
}
