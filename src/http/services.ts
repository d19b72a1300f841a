import type { Logger } from 'pino'
import type { UsageRecorder } from '../auth/tokens/usage.ts'
import type { ApiError, ErrorCode } from '../model/errors.ts'
import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Decision, Engine, ScopeDecision } from '../policy/engine.ts'
import type { Facts } from '../policy/evaluate.ts'
import type { Blobs } from '../store/blobs.ts'
import type { Operation } from '../resources/operation.ts'
import type { Scans } from '../resources/scans.ts'
import type { ChangeLog } from '../store/change-log.ts'
import type { Store } from '../store/port.ts'
import type { RunningKeys } from './idempotency.ts'
import type { SeenTokens } from './prefetch.ts'
import type { RateLimits, RequestRates } from './rate-limits.ts'
import type { Route } from './routes.ts'

/** What the pipeline depends on. */
export interface Services {
  readonly engine: Engine
  readonly store: Store
  readonly route: (method: string, path: string) => Route | ApiError
  /** the operations table */
  readonly operations: readonly Operation[]
  /** prefixes of tokens issued before a rename, without `_pat_` (spec §5) */
  readonly legacyPrefixes: readonly string[]
  readonly blobs: Blobs
  /** the maximum size of an upload in bytes */
  readonly uploadBytes: number
  readonly usage: UsageRecorder
  /** the tokens whose scopes this process knows */
  readonly seenTokens: Pick<SeenTokens, 'add' | 'get'>
  /** undefined: requests are not limited */
  readonly rateLimits?: RateLimits | undefined
  readonly scans: Scans
  readonly runningKeys: RunningKeys
  readonly changes: ChangeLog
  /** is aborted when the service stops: requests that wait for something are then answered */
  readonly stopping?: AbortSignal | undefined
  readonly clock: Clock
  readonly random: RandomSource
  /** the number of records that one commit of a cascade may change; the tests use small ones */
  readonly batch?: number | undefined
  readonly log: Logger
  /** receives the decision record of every request below /v1 after it was answered */
  readonly observe?: ((record: DecisionRecord) => void) | undefined
}

/**
 * The record of one request: who asked for what, and what both tables decided, and why. With the policy's hash and the
 * facts of the decision, the decision can be replayed against any version of the tables.
 */
export interface DecisionRecord {
  readonly requestId: string
  readonly method: string
  /** when the request arrived, by the monotonic clock of this process in milliseconds */
  readonly arrivedAt: number
  /** SHA-256 of the policy files, in hex */
  readonly policy: string
  operation?: string
  userId?: string
  workspaceId?: string
  tokenId?: string
  /** when the token expires, if that is soon: the value of the header Lanekeeper-Token-Expires */
  tokenExpires?: string
  scope?: ScopeDecision
  decision?: Decision
  /** the decisions about what the body names in addition, up to the one that was denied */
  further?: Decision[]
  /** instead of a decision: the definition that denied access to the target, and its facts */
  hidden?: { readonly definition: string; readonly facts: Facts }
  /** instead of a decision: the number of list items that were decided, and that were allowed */
  listed?: { readonly permission: string; asked: number; allowed: number }
  /** what an evaluation decided, for each of its questions */
  evaluations?: readonly ItemRecord[]
  /** what was decided about each operation of a batch, up to the one that failed */
  batch?: readonly ItemRecord[]
  /** whether the response is that of an earlier request with the same Idempotency-Key */
  replayed?: true
  /** the number of attempts; more than one if concurrent writes caused a conflict */
  attempts: number
  status: number
  code?: ErrorCode
  /** the rate limit that the request exceeded */
  exceeded?: RequestRates['exceeded']
}

/** What was decided about one question of an evaluation, or one operation of a batch. */
export interface ItemRecord extends Pick<DecisionRecord, 'scope' | 'decision' | 'further' | 'hidden'> {
  readonly operation: string
  /** the error that the operation answers, or would answer */
  code?: ErrorCode
}

/** Clears what the previous attempt recorded: it is no part of the response. */
export function resetRecord(record: DecisionRecord): void {
  for (const member of [
    'operation',
    'userId',
    'workspaceId',
    'tokenId',
    'tokenExpires',
    'scope',
    'decision',
    'further',
    'hidden',
    'listed',
    'evaluations',
    'batch',
  ] as const)
    delete record[member]
}
