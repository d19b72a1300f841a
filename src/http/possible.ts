import type { AuthorizationContext } from '../authz/context.ts'
import { factsFor, isLoaded } from '../authz/facts.ts'
import { ApiError } from '../model/errors.ts'
import { assignments } from '../policy/enumerate.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import type { ItemRecord } from './decision-record.ts'
import { requireVisible } from './permission.ts'
import type { Services } from './services.ts'

/**
 * Asks the permission table whether there are facts of what a question leaves open with which the operation is allowed on its target. What its
 * body may name in addition (`also`) is not asked.
 * @throws {ApiError} `not_found` if the caller has no access to the target, else `forbidden`
 */
export function requirePossible(
  { engine }: Pick<Services, 'engine'>,
  operation: Operation,
  { caller, body }: OperationRequest,
  target: AuthorizationContext,
  record: ItemRecord,
): void {
  requireVisible({ engine }, operation, caller, target, record) // 404
  record.stage = 'permission'
  const { vocabulary } = engine
  const { permission } = operation
  const { groups } = vocabulary.permissions.get(permission)!
  const known = groups.filter((group) => isLoaded(group, target))
  const facts = factsFor(vocabulary, known, caller, target)
  const unknown = groups.filter((group) => !known.includes(group))
  for (const assumed of assignments(vocabulary, unknown)) {
    record.decision = engine.decide(permission, { ...facts, ...assumed }, operation.fields?.(body))
    if (record.decision.outcome === 'allowed') return
  }
  throw new ApiError('forbidden')
}
