import type { Caller } from '../authz/context.ts'
import { Decisions } from '../authz/decisions.ts'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import { readsOf, textsOf } from '../resources/targets.ts'
import { memberOf } from '../store/reads.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Call } from './call.ts'
import { credentialReads } from './principal.ts'
import type { Route } from './routes.ts'
import type { Services } from './services.ts'

/**
 * Reads in one snapshot what an attempt will need: the token, the membership of its user and the target of the path, if the token's scopes
 * are known to be sufficient. Otherwise nothing is prefetched: a request with an insufficient scope must read only its token and the
 * membership. The transaction then has these records, so this changes nothing but the number of reads.
 * @param mayRecall whether the process may remember these records instead (see `Transaction.recall`)
 */
export function prefetch(services: Services, tx: Transaction, call: Call, route: Route | ApiError, mayRecall: boolean): Awaitable<void> {
  const { tokenHash } = call.principal
  const { store, engine, seenTokens, recalls, clock } = services
  if (!store.isRemote || tokenHash === undefined || route instanceof ApiError) return undefined
  const { operation, params } = route
  const seen = seenTokens.get(tokenHash)
  if (seen === undefined || operation.kind !== 'single') return undefined
  if (!Decisions.of(engine).scope(operation.permission, seen).allowed) return undefined
  const [token, membership] = credentialReads(tokenHash)
  const target = readsOf(operation.target, params, { userId: memberOf(token, 'user_id'), tokenHash })
  if (target instanceof ApiError) return undefined
  const further = call.key?.reads(clock) ?? []
  const ranges = operation.ranges?.(params) ?? []
  const records = [token, membership, ...target, ...further]
  if (mayRecall && ranges.length === 0 && recalls.mayNext(operation.id) && tx.recall(records)) return undefined
  const prefetched = tx.prefetch({ records, counts: operation.counts?.(params) ?? [], ranges })
  return andThen(prefetched, () => undefined)
}

/** The records of a target, or the reason why it does not exist. */
export type TargetRecords = readonly unknown[] | ApiError

/** An operation that is not requested alone. */
interface Asked {
  readonly operation: Operation
  readonly params: OperationRequest['params']
  /** who would perform it; undefined: who makes the request */
  readonly caller?: Caller
}

/**
 * Reads the targets of several operations in one snapshot.
 * @param all undefined: the target is not read
 * @returns what was read of each, in their order
 */
export async function prefetchTargets({ tx, caller }: OperationRequest, all: readonly (Asked | undefined)[]): Promise<TargetRecords[]> {
  const asked = all.map((one) =>
    one?.operation.kind === 'single' ? readsOf(one.operation.target, one.params, textsOf(one.caller ?? caller)) : [],
  )
  const reads = asked.flatMap((target) => (target instanceof ApiError ? [] : target))
  const records = reads.length === 0 ? [] : await tx.prefetch({ records: reads })
  let end = 0
  return asked.map((target) => (target instanceof ApiError ? target : records.slice(end, (end += target.length))))
}
