import type { ServerRequest } from 'srvx'
import { Failure } from '../model/failure.ts'
import { effectiveScopes } from '../model/token.ts'
import { factsFor } from '../operations/facts.ts'
import type { Operation, Request } from '../operations/operation.ts'
import type { Caller } from '../operations/situation.ts'
import { Unavailable } from '../store/port.ts'
import { pause } from '../store/transact.ts'
import { Conflict, Transaction } from '../store/transaction.ts'
import type { ParsedToken } from '../tokens/secret.ts'
import { authenticate, readCredential } from './authenticate.ts'
import { failure, notModified, success } from './envelope.ts'
import { toFailure } from './faults.ts'
import { filteredPage } from './filtered-page.ts'
import { readInput, type Input } from './input.ts'
import { entityHeaders, isCurrent, requireMatch } from './preconditions.ts'
import type { Services, Trace } from './services.ts'

/** One request below /v1, taken apart as far as it can be before anything is asked. */
export interface Incoming {
  readonly request: ServerRequest
  readonly requestId: string
  readonly method: string
  /** below /v1 */
  readonly path: string
  /** with its question mark, or empty */
  readonly search: string
}

/**
 * Answers a request. This is the one way in: every answer below /v1 comes from here.
 * @returns always an answer; never throws
 */
export async function answer(services: Services, incoming: Incoming): Promise<Response> {
  const trace: Trace = { requestId: incoming.requestId, policy: services.engine.hash, attempts: 0, status: 0 }
  const response = await attempt(services, incoming, trace).catch((error: unknown) => {
    const fault = toFailure(services.log, incoming.requestId, error)
    trace.code = fault.code
    return failure(incoming.requestId, fault)
  })
  trace.status = response.status
  services.observe?.(trace)
  return response
}

// All that is read while deciding is expected by the commit. Where it has changed meanwhile, everything starts
// again at authentication: so to check and to act are one step.
const MAX_ATTEMPTS = 12

async function attempt(services: Services, incoming: Incoming, trace: Trace): Promise<Response> {
  const credential = readCredential(incoming.request.headers.get('authorization'), services.legacyPrefixes)
  const memo: { input?: Input } = {}
  while (trace.attempts++ < MAX_ATTEMPTS) {
    try {
      return await once(services, incoming, credential, memo, trace)
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      await pause(trace.attempts)
    }
  }
  throw new Unavailable('others kept changing what this request is about')
}

/** The way of a request, in the order in which the contract refuses. */
async function once(
  services: Services,
  incoming: Incoming,
  credential: ParsedToken,
  memo: { input?: Input },
  trace: Trace,
): Promise<Response> {
  const { engine, clock, random } = services
  const tx = new Transaction(services.store, credential.workspaceId, random)
  const caller = await authenticate(tx, credential, clock) // 401
  Object.assign(trace, { userId: caller.userId, workspaceId: caller.workspaceId, tokenId: caller.token.id })
  services.usage.note(credential.workspaceId, credential.hash)
  const { operation, params } = services.route(incoming.method, incoming.path) // 404 405
  trace.operation = operation.id
  requireScope(services, operation, caller, trace) // 403
  memo.input ??= await readInput(incoming.request, incoming.search, operation) // 400 413 415 422
  const request: Request = { tx, caller, params, ...memo.input, clock, random }
  if (operation.kind === 'each') {
    const { items, nextCursor } = await filteredPage(engine, operation, request)
    return success(incoming.requestId, operation.status, items, nextCursor, {})
  }
  const loaded = await operation.load(request) // 404
  requirePermission(services, operation, request, loaded, trace) // 404 403
  return run(incoming, operation, request, loaded) // 409 412
}

function requireScope({ engine }: Services, { needs }: Operation, caller: Caller, trace: Trace): void {
  const facts = factsFor(engine.vocabulary, [engine.vocabulary.ladder.group], caller, {})
  const scope = engine.scope(needs.join(' '), facts)
  trace.scope = scope
  if (scope.allowed) return
  throw new Failure('insufficient_scope', {
    members: { required_scope: scope.required, granted_scopes: effectiveScopes(caller.token.scopes), row: scope.row },
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope.required}"` },
  })
}

function requirePermission({ engine }: Services, operation: Operation, request: Request, loaded: object, trace: Trace): void {
  const pair = operation.needs.join(' ')
  const facts = factsFor(engine.vocabulary, engine.vocabulary.asks.get(pair)!.of, request.caller, loaded)
  const decision = engine.decide(pair, facts, operation.fields?.(request.body))
  trace.decision = decision
  if (decision.outcome === 'not_found') throw new Failure('not_found')
  if (decision.outcome === 'forbidden') throw new Failure('forbidden', { members: { row: decision.row, reason: decision.reason } })
}

async function run(
  { requestId, method, request: { headers } }: Incoming,
  operation: Operation & { kind: 'single' },
  request: Request,
  loaded: object,
): Promise<Response> {
  const { tx } = request
  const reads = method === 'GET' || method === 'HEAD'
  const entity = operation.entity?.(request.params)
  if (!reads) requireMatch(headers, entity && tx.revisionOf(entity)) // 412
  const answer = await operation.run(request, loaded) // 409
  await tx.commit()
  const named = answer.entity ?? entity
  const revision = named && tx.revisionOf(named)
  const location = answer.location === undefined ? {} : { location: `/v1${answer.location}` }
  if (reads && isCurrent(headers, revision)) return notModified(requestId, entityHeaders(headers, revision))
  return success(requestId, operation.status, answer.data, answer.nextCursor, { ...entityHeaders(headers, revision), ...location })
}
