import type { ServerRequest } from 'srvx'
import { expiryOf } from '../auth/tokens/lifecycle.ts'
import type { ParsedToken } from '../auth/tokens/format.ts'
import { durations } from '../model/durations.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { FirstResponse } from '../model/idempotency.ts'
import type { RandomSource } from '../model/ids.ts'
import type { TokenRecord } from '../model/token.ts'
import { isDryRun, type Operation, type OperationRequest, type Upload } from '../resources/operation.ts'
import { loadTarget } from '../resources/targets.ts'
import { keys } from '../store/keys.ts'
import { retryConflicts } from '../store/transact.ts'
import { Transaction } from '../store/transaction.ts'
import type { Turn } from '../store/turns.ts'
import { authenticate, credentialKeys, readCredential } from './authenticate.ts'
import { performAll } from './batch.ts'
import { recordResources } from './decision-lines.ts'
import { recordResponse } from './decision-log.ts'
import { resetRecord, type DecisionRecord } from './decision-record.ts'
import { errorResponse } from './envelope.ts'
import { toApiError } from './error-mapping.ts'
import { evaluate } from './evaluation.ts'
import { filteredPage } from './filtered-page.ts'
import { IdempotentWrite, requireValidKey } from './idempotency.ts'
import { clientSignal } from './in-flight.ts'
import type { Incoming, ReadOnce } from './incoming.ts'
import { readInput } from './input.ts'
import { listResponse } from './list-response.ts'
import { waitSignal } from './open-stream.ts'
import { definitionsFor, requireAccess, requireScope, requireVisible } from './permission.ts'
import { readsAhead, toReadAhead } from './prefetch.ts'
import { removeUpload, replay, run } from './run.ts'
import type { Services } from './services.ts'
import { receiveFile } from './upload.ts'
import { LongPoll, NothingYet } from './waiting.ts'

/**
 * Answers a request below /v1. Every response there comes from here.
 * @returns the response; it never throws
 */
export async function handleRequest(services: Services, incoming: Incoming): Promise<Response> {
  const { requestId, method } = incoming
  const record: DecisionRecord = { requestId, method, arrivedAt: performance.now(), policy: services.engine.hash, attempts: 0, status: 0 }
  const rates = services.rateLimits?.begin(incoming.request)
  const once: ReadOnce = { rates }
  let answered: Response
  try {
    answered = await answerWithRetries(services, incoming, record, once)
  } catch (error) {
    const reason = toApiError(services.log, requestId, error, once.idempotent !== undefined)
    const apiError = rates?.fail(reason) ?? reason
    record.code = apiError.code
    answered = errorResponse(requestId, apiError, rates?.headers)
  }
  rates?.end()
  once.idempotent?.end()
  once.longPoll?.end()
  if (once.isDryRun === true) record.dryRun = true
  record.status = answered.status
  const response =
    services.decisionLog === undefined ? answered : await recordResponse(services.decisionLog, record, answered, rates?.headers)
  if (rates?.exceeded !== undefined) record.exceeded = rates.exceeded
  if (record.tokenExpires !== undefined) response.headers.set('lanekeeper-token-expires', record.tokenExpires)
  observe(services, record, incoming.request, once)
  return response
}

/** An observer that fails must not change the response. */
function observe(
  { observe: observer, activity, log }: Services,
  record: DecisionRecord,
  request: ServerRequest,
  { presented }: ReadOnce,
): void {
  try {
    if (presented !== undefined) activity.observe(record, request, presented)
    observer?.(record)
  } catch (error) {
    log.error({ request_id: record.requestId, err: error }, 'the decision record could not be observed')
  }
}

const MAX_ATTEMPTS = 12

/** The random source of a dry run: no id that it gives can be taken for a real one. The first one has zeros only, and all differ. */
function createZeros(): RandomSource {
  let count = 0
  return (size) => {
    const bytes = new Uint8Array(size)
    // Each byte gives 5 bits.
    for (let rest = count++, i = size - 1; rest > 0 && i >= 0; rest >>>= 5, i--) bytes[i] = rest & 31
    return bytes
  }
}

/**
 * Attempts a request until no concurrent write conflicts with it. The commit expects everything that the decision read
 * to be unchanged. If it is not, the request starts again at authentication: checking and acting are one step.
 */
async function answerWithRetries(services: Services, incoming: Incoming, observed: DecisionRecord, once: ReadOnce): Promise<Response> {
  let [record, used] = [observed, services]
  const notReady = services.decisionLog?.ready(record)
  if (notReady !== undefined) await notReady // 503
  record.stage = 'credential'
  const { headers } = incoming.request
  const credential = readCredential(headers.get('authorization'), services.legacyPrefixes)
  once.idempotent = IdempotentWrite.of(incoming.method, headers, credential.hash, services.runningKeys)
  const answer = async (): Promise<Response> => {
    for (;;) {
      try {
        return await retryConflicts(services.store, credential.workspaceId, MAX_ATTEMPTS, (turn) => {
          record.attempts++
          return attempt(used, incoming, credential, once, record, turn)
        })
      } catch (error) {
        if (!(error instanceof NothingYet)) throw error
        const { store } = services
        once.longPoll ??= new LongPoll(store, credential.workspaceId, error.awaited, waitSignal(services, incoming.request))
        await once.longPoll.next()
      }
    }
  }
  try {
    const response = await answer()
    once.stream?.start((ahead) => {
      once.ahead = ahead
      // The record of the request is observed when its response begins. A stream can last longer than a policy.
      used = services.current()
      record = { ...observed, policy: used.engine.hash, attempts: 0 }
      return answer()
    })
    return response
  } catch (error) {
    // Only if nothing was committed for certain. Garbage collection finds the rest.
    if (error instanceof ApiError) await removeUpload(services, once)
    throw error
  }
}

/** One attempt, in the order in which the contract refuses requests. */
async function attempt(
  services: Services,
  incoming: Incoming,
  credential: ParsedToken,
  once: ReadOnce,
  record: DecisionRecord,
  turn: Turn | undefined,
): Promise<Response> {
  const { engine, clock, random, batch = limits.batch } = services
  if (record.attempts > 1) resetRecord(record)
  record.stage = 'credential'
  const tx = new Transaction(services.store, credential.workspaceId, random, turn?.id)
  const route = services.route(incoming.method, incoming.path)
  const further = once.idempotent?.reads(clock)
  const wanted = route instanceof ApiError ? undefined : readsAhead(engine, route, credential, services.seenTokens, further)
  const ahead = wanted && toReadAhead(wanted, await tx.prefetch(wanted))
  const credentials = ahead?.credentials ?? (await tx.read(credentialKeys(credential.hash)))
  once.presented = credentials[0] && { partition: tx.partition, token: credentials[0] }
  const caller = authenticate(credentials, credential, clock, (token) => logReplacedToken(services, incoming, token)) // 401
  record.userId = caller.userId
  record.workspaceId = caller.workspaceId
  record.tokenId = caller.token.id
  tx.logChanges(services.changes, { actor_id: caller.userId, token_id: caller.token.id, request_id: incoming.requestId })
  const expiry = expiryOf(caller.token)
  if (expiry - clock() <= durations.tokenExpiryNotice) record.tokenExpires = new Date(expiry).toISOString()
  services.seenTokens.add(credential.hash, caller.token)
  record.stage = 'rate_limit'
  once.rates?.charge(caller) // 429
  record.stage = 'route'
  if (route instanceof ApiError) throw route // 404 405
  const { operation, params } = route
  record.operation = operation.id
  recordResources(record, params)
  if (operation.isRead) once.idempotent = undefined
  requireScope(services, operation, caller, record) // 403
  record.stage = 'input'
  const beforeLarge = () => services.scans.slice(caller.workspaceId)
  requireValidKey(incoming.method, incoming.request.headers) // 400
  const search = operation.isStream ? continued(incoming) : incoming.search
  once.input ??= await readInput(incoming.request, search, operation, params, services.uploadBytes, beforeLarge) // 400 413 415 422
  const { body, upload } = once.input
  const query = once.stream === undefined ? once.input.query : Object.assign({}, once.input.query, { after: once.stream.position })
  once.isDryRun = isDryRun({ query })
  const receiveOnce = (): Promise<Upload> => {
    // Others must not wait for this client.
    if (once.upload === undefined) turn?.end()
    return (once.upload ??= receiveFile(services, incoming.request, caller.workspaceId))
  }
  const receive = upload ? receiveOnce : undefined
  const scanner = { workspaceId: caller.workspaceId, userId: caller.userId, hasTurn: turn !== undefined }
  const beginScan = () => services.scans.begin({ ...scanner, signal: clientSignal(incoming.request) })
  const request: OperationRequest = {
    tx,
    caller,
    params,
    query,
    body,
    clock,
    random: once.isDryRun ? createZeros() : random,
    batch,
    holds: definitionsFor(services, caller),
    evaluate: (questions, semantic) => evaluate(services, request, record, questions, semantic),
    perform: (boardId, items) => {
      once.rates?.chargeFurther(caller, items.length - 1) // 429
      return performAll(services, request, record, boardId, items)
    },
    ahead: once.ahead,
    receive,
    beginScan,
  }
  if (operation.kind === 'filtered_list') {
    record.stage = 'run'
    if (services.decisionLog !== undefined) record.vectors = new Map()
    return listResponse(incoming, operation.status, await filteredPage(engine, operation, request, record), once) // 412
  }
  if (once.idempotent !== undefined && !once.isDryRun) {
    record.stage = 'idempotency'
    const asked = { method: incoming.method, path: incoming.path, query, body, headers: incoming.request.headers }
    const first = await once.idempotent.find(tx, asked, receive) // 409 422
    if (first !== undefined) {
      await requireStillVisible(services, operation, request, first, record) // 404
      return replay(services, incoming, first, once, record)
    }
  }
  record.stage = 'target'
  const target = ahead === undefined ? await loadTarget(operation.target, request) : operation.target.from(ahead.target) // 404
  const loaded = await requireAccess(services, operation, request, target, record) // 404 403
  record.stage = 'run'
  return run(services, incoming, operation, request, loaded, once, record) // 409 412
}

/** The query of a stream. A client that reconnects states the last event that it has. */
function continued({ request: { headers }, search }: Incoming): string {
  const id = headers.get('last-event-id')
  if (id === null || id === '') return search
  const query = new URLSearchParams(search)
  query.set('after', id)
  return `?${query.toString()}`
}

/**
 * Decides on access to the board of a first response as it is now (spec §5 "Credential" 5). A board that was deleted since hides
 * nothing: its deletion may be the write.
 * @throws {ApiError} `not_found`
 */
async function requireStillVisible(
  services: Services,
  operation: Operation,
  { tx, caller }: OperationRequest,
  { board_id }: FirstResponse,
  record: DecisionRecord,
): Promise<void> {
  if (board_id === null) return
  const [board, boardMember] = await tx.read([keys.board(board_id), keys.boardMember(board_id, caller.userId)])
  if (board !== undefined) requireVisible(services, operation, caller, { board, boardMember }, record)
}

/** A rotated token is still in use: its user forgot a copy, or it was stolen. */
function logReplacedToken({ log }: Services, { requestId }: Incoming, { id, user_id, replaced_by }: TokenRecord): void {
  log.warn({ event: 'token.replaced_used', request_id: requestId, token_id: id, replaced_by, user_id }, 'a replaced token was used')
}
