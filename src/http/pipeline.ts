import type { ServerRequest } from 'srvx'
import { ApiError } from '../model/errors.ts'
import { factsFor } from '../authz/facts.ts'
import type { Operation, OperationRequest, Upload } from '../resources/operation.ts'
import type { AuthorizationContext } from '../authz/context.ts'
import { StorageUnavailable } from '../store/port.ts'
import { backOff } from '../store/transact.ts'
import { TransactionConflict, Transaction } from '../store/transaction.ts'
import type { ParsedToken } from '../auth/tokens/secret.ts'
import type { TokenRecord } from '../model/token.ts'
import { EXPIRES_SOON, expiryOf } from '../auth/tokens/lifecycle.ts'
import { authenticate, readCredential } from './authenticate.ts'
import { download } from './download.ts'
import { errorResponse, notModifiedResponse, dataResponse } from './envelope.ts'
import { toApiError } from './errors.ts'
import { filteredPage } from './filtered-page.ts'
import { readInput, type Input } from './input.ts'
import { requirePermission, requireScope, visibilityGate } from './permission.ts'
import { entityHeaders, isCurrent, requireMatch } from './preconditions.ts'
import { receiveFile } from './receiver.ts'
import { resetRecord, type Services, type DecisionRecord } from './services.ts'

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
export async function handleRequest(services: Services, incoming: Incoming): Promise<Response> {
  const trace: DecisionRecord = { requestId: incoming.requestId, policy: services.engine.hash, attempts: 0, status: 0 }
  const response = await answerWithRetries(services, incoming, trace).catch((error: unknown) => {
    const fault = toApiError(services.log, incoming.requestId, error)
    trace.code = fault.code
    return errorResponse(incoming.requestId, fault)
  })
  trace.status = response.status
  if (trace.tokenExpires !== undefined) response.headers.set('lanekeeper-token-expires', trace.tokenExpires)
  observe(services, trace)
  return response
}

/** What watches must not change what was done. */
function observe({ observe, log }: Services, trace: DecisionRecord): void {
  try {
    observe?.(trace)
  } catch (error) {
    log.error({ request_id: trace.requestId, err: error }, 'an answer could not be reported')
  }
}

// All that is read while deciding is expected by the commit. Where it has changed meanwhile, everything starts
// again at authentication: so to check and to act are one step.
const MAX_ATTEMPTS = 12

/** What is read from the connection, which can be done once only, whatever the attempts. */
interface Memo {
  input?: Input
  upload?: Promise<Upload>
}

async function answerWithRetries(services: Services, incoming: Incoming, trace: DecisionRecord): Promise<Response> {
  const credential = readCredential(incoming.request.headers.get('authorization'), services.legacyPrefixes)
  const memo: Memo = {}
  try {
    while (trace.attempts++ < MAX_ATTEMPTS) {
      try {
        return await attempt(services, incoming, credential, memo, trace)
      } catch (error) {
        if (!(error instanceof TransactionConflict)) throw error
        await backOff(trace.attempts)
      }
    }
    throw new StorageUnavailable('others kept changing what this request is about')
  } catch (error) {
    // Only where it is certain that nothing was committed; the sweep finds the rest.
    if (error instanceof ApiError) await memo.upload?.then(({ blobId }) => services.blobs.remove(blobId)).catch(() => undefined)
    throw error
  }
}

/** The way of a request, in the order in which the contract refuses. */
async function attempt(
  services: Services,
  incoming: Incoming,
  credential: ParsedToken,
  memo: Memo,
  trace: DecisionRecord,
): Promise<Response> {
  const { engine, clock, random } = services
  if (trace.attempts > 1) resetRecord(trace)
  const tx = new Transaction(services.store, credential.workspaceId, random)
  const caller = await authenticate(tx, credential, clock, (token) => logReplacedToken(services, incoming, token)) // 401
  Object.assign(trace, { userId: caller.userId, workspaceId: caller.workspaceId, tokenId: caller.token.id })
  const expiry = expiryOf(caller.token)
  if (expiry - clock() <= EXPIRES_SOON) trace.tokenExpires = new Date(expiry).toISOString()
  const { operation, params } = services.route(incoming.method, incoming.path) // 404 405
  trace.operation = operation.id
  requireScope(services, operation, caller, trace) // 403
  services.usage.note(credential.workspaceId, credential.hash)
  memo.input ??= await readInput(incoming.request, incoming.search, operation, params, services.uploadBytes) // 400 413 415 422
  const { query, body, upload } = memo.input
  const receive = upload ? () => (memo.upload ??= receiveFile(services, incoming.request, caller.workspaceId)) : undefined
  const holds = (name: string, situation: AuthorizationContext) =>
    engine.holds(name, factsFor(engine.vocabulary, engine.vocabulary.definitions.get(name)!.groups, caller, situation))
  const see = visibilityGate(services, operation, caller, trace)
  const request: OperationRequest = { tx, caller, params, query, body, clock, random, holds, see, receive }
  if (operation.kind === 'each') {
    const { items, nextCursor } = await filteredPage(engine, operation, request, trace)
    return dataResponse(incoming.requestId, operation.status, items, nextCursor, {})
  }
  const loaded = await operation.load(request) // 404
  requirePermission(services, operation, request, loaded, trace) // 404 403
  return run(services, incoming, operation, request, loaded) // 409 412
}

/** A token that was replaced is in use: an old copy was forgotten, or somebody has it who should not. */
function logReplacedToken({ log }: Services, { requestId }: Incoming, { id, user_id, replaced_by }: TokenRecord): void {
  log.warn({ event: 'token.replaced_used', request_id: requestId, token_id: id, replaced_by, user_id }, 'a replaced token was used')
}

async function run(
  services: Services,
  incoming: Incoming,
  operation: Operation & { kind: 'single' },
  request: OperationRequest,
  loaded: object,
): Promise<Response> {
  const {
    requestId,
    method,
    request: { headers },
  } = incoming
  const { tx } = request
  const reads = method === 'GET' || method === 'HEAD'
  const entity = operation.entity?.(request.params)
  if (!reads) requireMatch(headers, entity && tx.revisionOf(entity)) // 412
  const answer = await operation.run(request, loaded) // 409
  await tx.commit()
  if (answer.download !== undefined) return download(requestId, method, headers, answer.download, services.blobs)
  const named = answer.entity === null ? undefined : (answer.entity ?? entity)
  const revision = named && tx.revisionOf(named)
  const location = answer.location === undefined ? {} : { location: `/v1${answer.location}` }
  if (reads && isCurrent(headers, revision)) return notModifiedResponse(requestId, entityHeaders(headers, revision))
  return dataResponse(requestId, operation.status, answer.data, answer.nextCursor, { ...entityHeaders(headers, revision), ...location })
}
