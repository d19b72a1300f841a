import { Failure } from '../model/errors.ts'
import { effectiveScopes } from '../model/token.ts'
import { factsFor } from '../authz/facts.ts'
import type { Operation, Request } from '../resources/operation.ts'
import type { Caller } from '../authz/context.ts'
import type { Services, Trace } from './services.ts'

/**
 * Asks the scope table whether this token may, whoever holds it (spec §5, "Scopes"; RFC 6750 §3.1).
 * @throws {Failure} `insufficient_scope`, telling what was required and what there was
 */
export function requireScope({ engine }: Services, { needs }: Operation, caller: Caller, trace: Trace): void {
  const facts = factsFor(engine.vocabulary, [engine.vocabulary.ladder.group], caller, {})
  const scope = engine.scope(needs.join(' '), facts)
  trace.scope = scope
  if (scope.allowed) return
  throw new Failure('insufficient_scope', {
    members: { required_scope: scope.required, granted_scopes: effectiveScopes(caller.token.scopes), row: scope.row },
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope.required}"` },
  })
}

const ON_BOARD = new Set(['caller', 'board'])

/** How an operation's load refuses what lies on a board that may not be seen. It tells the trace why. */
export function seer({ engine }: Services, { needs }: Operation, caller: Caller, trace: Trace): Request['see'] {
  const { vocabulary } = engine
  return (situation) => {
    for (const name of vocabulary.asks.get(needs.join(' '))!.notFoundUnless) {
      const { of } = vocabulary.definitions.get(name)!
      if (!of.every((group) => ON_BOARD.has(group))) continue
      const facts = factsFor(vocabulary, of, caller, situation)
      if (engine.holds(name, facts)) continue
      trace.hidden = { definition: name, facts }
      throw new Failure('not_found')
    }
    return situation
  }
}

/**
 * Asks the permission table whether this person may, in this situation (spec §5, "Scope and permission per operation").
 * @throws {Failure} `not_found` where something that the request names may not be seen, else `forbidden`
 */
export function requirePermission({ engine }: Services, operation: Operation, request: Request, loaded: object, trace: Trace): void {
  const pair = operation.needs.join(' ')
  const facts = factsFor(engine.vocabulary, engine.vocabulary.asks.get(pair)!.of, request.caller, loaded)
  const decision = engine.decide(pair, facts, operation.fields?.(request.body))
  trace.decision = decision
  if (decision.outcome === 'not_found') throw new Failure('not_found')
  if (decision.outcome === 'forbidden') throw new Failure('forbidden', { members: { row: decision.row, reason: decision.reason } })
}
