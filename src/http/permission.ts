import type { AuthorizationContext, Caller } from '../authz/context.ts'
import { Decisions } from '../authz/decisions.ts'
import { dependsOnClaim, factsFor, isLoaded } from '../authz/facts.ts'
import { andThen, type Awaitable } from '../model/awaitable.ts'
import { ApiError, notFound } from '../model/errors.ts'
import { effectiveScopes } from '../model/token.ts'
import type { Decision } from '../policy/engine.ts'
import { readClaim } from '../resources/claims/present.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import { loadTarget } from '../resources/targets.ts'
import type { AttemptRecord, ItemRecord } from './decision-record.ts'
import type { Services } from './services.ts'
import { pointsOf } from '../policy/points.ts'

type Policy = Pick<Services, 'engine'>

/** Whether the scope table allows an operation. It decides about tokens only: a person in the web app has none. */
export function hasScope({ engine }: Policy, { permission }: Operation, { token }: Caller): boolean {
  return token === undefined || Decisions.of(engine).scope(permission, token).allowed
}

/**
 * Asks the scope table whether the token may be used for the operation (spec §5, "Scopes"; RFC 6750 §3.1). A session has no scope: what its
 * person may do is decided by the permission table alone.
 * @throws {ApiError} `insufficient_scope`, with the required and the granted scopes
 */
export function requireScope({ engine }: Policy, { permission }: Operation, caller: Caller, record: PermissionRecord): void {
  if (caller.token === undefined) return
  record.stage = 'scope'
  const scope = Decisions.of(engine).scope(permission, caller.token)
  record.scope = scope
  if (scope.allowed) return
  throw new ApiError('insufficient_scope', {
    members: { required_scope: scope.required, granted_scopes: effectiveScopes(caller.token.scopes), row: scope.row },
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope.required}"` },
  })
}

/**
 * Refuses a target on a board that the caller has no access to, before anything else is read. So a hidden resource costs
 * the same number of reads as an absent one (spec §5, rule 3).
 * @param parameter see {@link notFound}
 * @param isWhole whether the target has everything that decides about access to it
 * @throws {ApiError} `not_found`
 */
export function requireVisible(
  { engine }: Policy,
  { permission }: Pick<Operation, 'permission'>,
  caller: Caller,
  target: AuthorizationContext,
  record: PermissionRecord,
  { parameter, isWhole = false }: { readonly parameter?: string; readonly isWhole?: boolean } = {},
): void {
  const hidden = Decisions.of(engine).hiding(permission, caller, target, isWhole)
  if (hidden === undefined) return
  record.hidden = hidden
  throw notFound(parameter)
}

/**
 * Refuses a list whose query names something that is absent, or on a board that the caller has no access to.
 * @throws {ApiError} `not_found`, with the parameter
 */
export async function requireNamed(
  services: Policy,
  operation: Operation & { kind: 'filtered_list' },
  request: OperationRequest,
  record: PermissionRecord,
): Promise<void> {
  record.stage = 'target'
  for (const { parameter, context } of (await operation.named?.(request)) ?? []) {
    if (context === undefined) throw notFound(parameter)
    requireVisible(services, operation, request.caller, context, record, { parameter })
  }
}

/**
 * Loads the target of a request and what else it names, and decides with the permission table.
 * @returns everything that was loaded
 * @throws {ApiError} `not_found`, `forbidden`
 */
export function authorize(
  services: Policy,
  operation: Operation & { kind: 'single' },
  request: OperationRequest,
  record: PermissionRecord,
): Awaitable<AuthorizationContext> {
  record.stage = 'target'
  return andThen(loadTarget(operation.target, request), (target) => requireAccess(services, operation, request, target, record))
}

/** The same for a target that is loaded. */
export function requireAccess(
  services: Policy,
  operation: Operation & { kind: 'single' },
  request: OperationRequest,
  target: AuthorizationContext,
  record: PermissionRecord,
): Awaitable<AuthorizationContext> {
  requireVisible(services, operation, request.caller, target, record) // 404
  return andThen(loadNamed(services, operation, request, target), (loaded) => {
    requirePermission(services, operation, request, loaded, record) // 404 403
    return loaded
  })
}

/**
 * Loads what a request names beside its target, and the claim of the card if the policy depends on it.
 * @returns everything that its facts are read from
 * @throws {ApiError} `not_found`
 */
export function loadNamed(
  services: Policy,
  operation: Operation & { kind: 'single' },
  request: OperationRequest,
  target: AuthorizationContext,
): Awaitable<AuthorizationContext> {
  const { related } = operation
  if (related === undefined) return loadClaim(services, operation, request, target)
  return andThen(related(request, target), (found) => loadClaim(services, operation, request, Object.assign({}, target, found)))
}

/** Adds the claim of the card, if the policy depends on it. A card that is created has none. */
function loadClaim(
  { engine }: Policy,
  { permission, also }: Operation,
  request: OperationRequest,
  loaded: AuthorizationContext,
): Awaitable<AuthorizationContext> {
  if (!dependsOnClaim(engine.vocabulary, permission) && !also.some((further) => dependsOnClaim(engine.vocabulary, further.permission)))
    return loaded
  if (loaded.card === undefined) return { ...loaded, claim: null, lastClaim: null }
  return readClaim(request, loaded.card.id).then(({ record, live = null }) => ({ ...loaded, claim: live, lastClaim: record ?? null }))
}

/** What a decision record, or the record of an evaluation, has of permissions. */
type PermissionRecord = Pick<AttemptRecord, 'scope' | 'decision' | 'further' | 'hidden' | 'absent' | 'stage'>

/**
 * Asks the permission table whether the caller may perform the operation on what was loaded (spec §5, "Scope and
 * permission per operation"), and then about each item that the body names in addition.
 * @throws {ApiError} `not_found` if the caller has no access to something that the request names, else `forbidden`
 */
function requirePermission(
  { engine }: Policy,
  operation: Operation,
  request: OperationRequest,
  loaded: AuthorizationContext,
  record: PermissionRecord,
): void {
  record.stage = 'permission'
  const { permission, also } = operation
  const { caller } = request
  const decisions = Decisions.of(engine)
  const decision = decisions.decide(permission, caller, loaded, operation.fields?.(request.body))
  record.decision = decision
  requireAllowed(decision, () => namedBy(operation, request, engine.vocabulary.permissions.get(permission)!.groups))
  for (const { permission: id, parameter, contexts } of also) {
    for (const context of contexts(loaded)) {
      // In the order of the body: otherwise the parameter would tell whether an item is absent or hidden.
      if (context === undefined) {
        record.absent = true
        throw notFound(parameter)
      }
      const further = decisions.decide(id, caller, Object.assign({}, loaded, context))
      ;(record.further ??= []).push(further)
      requireAllowed(further, () => parameter)
    }
  }
}

function requireAllowed({ outcome, row, reason }: Decision, parameter: () => string | undefined): void {
  if (outcome === 'not_found') throw notFound(parameter())
  if (outcome === 'forbidden') throw new ApiError('forbidden', { members: { row, reason } })
}

/** A group of facts about a resource → what names it. */
const PARAMETERS: Readonly<Record<string, string>> = { user: 'user_id', label: 'label_id', file: 'file_id' }

/** Where a request names another resource than the target of the path: the body, or the second id of the path. */
function namedBy({ path }: Operation, { params, body }: OperationRequest, groups: readonly string[]): string | undefined {
  const ofTarget = /\{(\w+)\}/.exec(path)?.[1]
  const named = { ...params, ...(body as object | undefined) }
  return groups.map((group) => PARAMETERS[group]).find((name) => name !== undefined && name !== ofTarget && Object.hasOwn(named, name))
}

/**
 * Asks the permission table whether any facts that a question leaves open would allow the operation on its target. What
 * its body may name in addition (`also`) is not asked.
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
  for (const assumed of pointsOf(unknown.flatMap((group) => vocabulary.groups.get(group)!))) {
    record.decision = engine.decide(permission, { ...facts, ...assumed }, operation.fields?.(body))
    if (record.decision.outcome === 'allowed') return
  }
  throw new ApiError('forbidden')
}
