import { scopeFacts } from '../authz/facts.ts'
import type { Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import { readsOf } from '../resources/targets.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Call } from './call.ts'
import { credentialKeys } from './principal.ts'
import type { Route } from './routes.ts'
import type { Services } from './services.ts'

/** The index of the target's first reference: the token and the membership come before it. */
const TARGET = 2

/**
 * Reads in one snapshot what an attempt will need: the token, the membership of its user and the target of the path, if the token's scopes
 * are known to be sufficient. Otherwise nothing is prefetched: a request with an insufficient scope must read only its token and the
 * membership. The transaction then has these records, so this changes nothing but the number of reads.
 */
export function prefetch(services: Services, tx: Transaction, call: Call, route: Route | ApiError): Awaitable<unknown> {
  const { tokenHash } = call.principal
  const { store, engine, seenTokens, clock } = services
  if (!store.isRemote || tokenHash === undefined || route instanceof ApiError) return undefined
  const { operation, params } = route
  const token = seenTokens.get(tokenHash)
  if (token === undefined || operation.kind !== 'single') return undefined
  if (!engine.checkScope(operation.permission, scopeFacts(engine.vocabulary, token)).allowed) return undefined
  const target = readsOf(operation.target, params, TARGET, { userId: '{0.user_id}', tokenHash })
  if (target instanceof ApiError) return undefined
  const further = call.key?.reads(clock) ?? []
  return tx.prefetch({ records: [...credentialKeys(tokenHash), ...target, ...further], counts: operation.counts?.(params) })
}
