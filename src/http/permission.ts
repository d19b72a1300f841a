import { ApiError } from '../model/errors.ts'
import { effectiveScopes } from '../model/token.ts'
import { factsFor } from '../authz/facts.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import type { Caller } from '../authz/context.ts'
import type { Services, DecisionRecord } from './services.ts'

/**
 * Asks the scope table whether this token may, whoever holds it (spec §5, "Scopes"; RFC 6750 §3.1).
 * @throws {ApiError} `insufficient_scope`, telling what was required and what there was
 */
export function requireScope({ engine }: Services, { needs }: Operation, caller: Caller, trace: DecisionRecord): void {
  const facts = factsFor(engine.vocabulary, [engine.vocabulary.scopeOrder.group], caller, {})
  const scope = engine.checkScope(needs.join(' '), facts)
  trace.scope = scope
  if (scope.allowed) return
  throw new ApiError('insufficient_scope', {
    members: { required_scope: scope.required, granted_scopes: effectiveScopes(caller.token.scopes), row: scope.row },
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope.required}"` },
  })
}

const ON_BOARD = new Set(['caller', 'board'])

/** How an operation's load refuses what lies on a board that may not be seen. It tells the trace why. */
export function visibilityGate({ engine }: Services, { needs }: Operation, caller: Caller, trace: DecisionRecord): OperationRequest['see'] {
  const { vocabulary } = engine
  return (situation) => {
    for (const name of vocabulary.permissions.get(needs.join(' '))!.notFoundUnless) {
      const { groups: groups } = vocabulary.definitions.get(name)!
      if (!groups.every((group) => ON_BOARD.has(group))) continue
      const facts = factsFor(vocabulary, groups, caller, situation)
      if (engine.holds(name, facts)) continue
      trace.hidden = { definition: name, facts }
      throw new ApiError('not_found')
    }
    return situation
  }
}

/**
 * Asks the permission table whether this person may, in this situation (spec §5, "Scope and permission per operation").
 * @throws {ApiError} `not_found` where something that the request names may not be seen, else `forbidden`
 */
export function requirePermission(
  { engine }: Services,
  operation: Operation,
  request: OperationRequest,
  loaded: object,
  trace: DecisionRecord,
): void {
  const pair = operation.needs.join(' ')
  const facts = factsFor(engine.vocabulary, engine.vocabulary.permissions.get(pair)!.groups, request.caller, loaded)
  const decision = engine.decide(pair, facts, operation.fields?.(request.body))
  trace.decision = decision
  if (decision.outcome === 'not_found') throw new ApiError('not_found')
  if (decision.outcome === 'forbidden') throw new ApiError('forbidden', { members: { row: decision.row, reason: decision.reason } })
}
