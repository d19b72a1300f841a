import type { Logger } from 'pino'
import type { ErrorCode } from '../model/errors.ts'
import type { RandomSource } from '../model/ids.ts'
import type { Clock } from '../model/time.ts'
import type { Decision, Engine, ScopeDecision } from '../policy/engine.ts'
import type { Facts } from '../policy/evaluate.ts'
import type { Blobs } from '../store/blobs.ts'
import type { Store } from '../store/port.ts'
import type { UsageRecorder } from '../auth/tokens/usage.ts'
import type { Route } from './routes.ts'

/** What the pipeline works with. */
export interface Services {
  readonly engine: Engine
  readonly store: Store
  readonly route: (method: string, path: string) => Route
  /** prefixes of tokens issued before a rename, without `_pat_` (spec §5) */
  readonly legacyPrefixes: readonly string[]
  readonly blobs: Blobs
  /** bytes of an upload, at most */
  readonly uploadBytes: number
  readonly usage: UsageRecorder
  readonly clock: Clock
  readonly random: RandomSource
  readonly log: Logger
  /** is told of every request below /v1 once it is answered */
  readonly observe?: ((trace: DecisionRecord) => void) | undefined
}

/**
 * What became of one request: who asked for what, what both tables said and why. With the policy's hash and
 * the facts in the decision it can be replayed exactly against any version of the tables.
 */
export interface DecisionRecord {
  readonly requestId: string
  readonly policy: string
  operation?: string
  userId?: string
  workspaceId?: string
  tokenId?: string
  /** where it is soon: when the token expires, as the answer's header says */
  tokenExpires?: string
  scope?: ScopeDecision
  decision?: Decision
  /** in the place of a decision: the definition that failed before anything else was read, and why */
  hidden?: { readonly definition: string; readonly facts: Facts }
  /** in the place of a decision: a list, of so many that were asked about, and that were shown */
  listed?: { readonly pair: string; asked: number; shown: number }
  /** how often it was tried: more than once where others wrote at the same time */
  attempts: number
  status: number
  code?: ErrorCode
}

/** Begins a trace again: what an attempt found that came to nothing is no part of the answer. */
export function resetRecord(trace: DecisionRecord): void {
  for (const part of ['operation', 'userId', 'workspaceId', 'tokenId', 'tokenExpires', 'scope', 'decision', 'hidden', 'listed'] as const)
    delete trace[part]
}
