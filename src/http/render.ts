import { andThen, type Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import type { Call } from './call.ts'
import type { AttemptRecord } from './decision-record.ts'
import { download } from './download.ts'
import { dataResponse, errorResponse, jsonResponse, notModifiedResponse } from './envelope.ts'
import { openStream } from './event-stream.ts'
import { selectFields } from './fields.ts'
import { bodyOf, piecesOf, versionOf, type Pieces } from './json-body.ts'
import type { Answer, Done, Events } from './outcome.ts'
import { entityHeaders, isCurrent, requireMatch, revalidated, weakTag } from './preconditions.ts'
import type { Services } from './services.ts'

/** The bytes of an answer that are made at once. */
const STEP = 64 * 1024

/**
 * The response below /v1 to a call that was not refused.
 * @throws {ApiError} `precondition_failed` for a read, `range_not_satisfiable`
 */
export function render(services: Services, call: Call, answer: Answer, record: AttemptRecord): Awaitable<Response> {
  const { requestId, method, headers } = call
  const shared = sharedHeaders(call, record)
  const json = (data: unknown) => {
    let asked = 0
    const pieces = piecesOf(data, (length) => {
      // The work is done also if the client has the answer already (304).
      call.cost.bytes = length
      if (length - asked < STEP) return undefined
      asked = length
      return call.turn(answer.caller).spent()
    })
    // To join, compress and send a large answer is one step.
    return andThen(pieces, (made) =>
      call.cost.bytes < STEP
        ? made
        : call
            .turn(answer.caller)
            .take()
            .then(() => made),
    )
  }
  switch (answer.kind) {
    case 'events':
      return renderEvents(services, call, answer, shared)
    case 'download':
      return download(requestId, method, headers, answer.file, services.blobs, shared)
    case 'dry_run':
      return andThen(json(answer.data), (made) => dataResponse(requestId, answer.status, made, { ...shared, 'dry-run': 'true' }))
    case 'replayed': {
      const { status, data, revision, location } = answer.first
      const own = resourceHeaders(services, headers, revision ?? undefined, location ?? undefined)
      return andThen(json(data), (made) => dataResponse(requestId, status, made, { ...shared, ...own, 'idempotent-replayed': 'true' }))
    }
    case 'done':
      return renderDone(services, call, answer, shared, answer.operation.isRead ? json : (data) => orNothing(json(data)))
  }
}

/** What was done is not answered with an error because its client does not wait for the answer: nobody reads that. */
function orNothing(pieces: Awaitable<Pieces>): Awaitable<Pieces> {
  if (!(pieces instanceof Promise)) return pieces
  return pieces.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'request_timeout') return []
    throw error
  })
}

function renderDone(
  services: Services,
  { requestId, headers }: Call,
  { operation, status, data, nextCursor, fields, revision, location }: Done,
  shared: Readonly<Record<string, string>>,
  json: (data: unknown) => Awaitable<Pieces>,
): Awaitable<Response> {
  const { isRead } = operation
  if (nextCursor !== undefined) {
    requireMatch(headers, undefined) // 412
    return andThen(json(selectFields(data, fields)), (pieces) => listResponse(requestId, headers, status, pieces, nextCursor, shared))
  }
  if (isRead) requireMatch(headers, revision) // 412
  const all = Object.assign({}, shared, resourceHeaders(services, headers, revision, location))
  if (isRead && isCurrent(headers, revision)) return notModifiedResponse(requestId, all)
  return andThen(json(selectFields(data, fields)), (pieces) => dataResponse(requestId, status, pieces, all))
}

/**
 * Answers a GET of a list with a page, or with 304 if the client has it. A page has no revision, so its ETag is a hash of it.
 * It is weak: it is the same for each content coding, and no condition of a write.
 * @param shared headers in addition to every response's
 */
function listResponse(
  requestId: string,
  headers: Headers,
  status: number,
  pieces: Pieces,
  nextCursor: string | null,
  shared: Readonly<Record<string, string>>,
): Response {
  const version = versionOf(pieces, nextCursor)
  const all = Object.assign({}, shared, { etag: weakTag(version) }, revalidated(headers))
  if (isCurrent(headers, version)) return notModifiedResponse(requestId, all)
  return jsonResponse(requestId, status, bodyOf(pieces, nextCursor), all)
}

function renderEvents(
  services: Services,
  call: Call,
  { found, next, share }: Events & Answer & { kind: 'events' },
  shared: Readonly<Record<string, string>>,
): Response {
  requireMatch(call.headers, undefined) // 412
  const { request, method, requestId, principal } = call
  const asked = { request, method, requestId, partition: principal.partition, share }
  return openStream(services, asked, [{ first: found, readNext: async (position) => (await next(position)).found }], shared)
}

/** The response to a call that was refused. */
export function renderError(call: Call, error: ApiError, record: AttemptRecord): Response {
  return errorResponse(call.requestId, error, sharedHeaders(call, record))
}

/** The headers of each response to a call: its rate limits, and the end of its token if that is near. */
export function sharedHeaders({ quota }: Call, { tokenExpires }: AttemptRecord): Readonly<Record<string, string>> {
  return tokenExpires === undefined ? quota.headers : Object.assign({}, quota.headers, { 'lanekeeper-token-expires': tokenExpires })
}

function resourceHeaders(
  { apiPath }: Services,
  headers: Headers,
  revision: string | undefined,
  location: string | undefined,
): Record<string, string> {
  return Object.assign(entityHeaders(headers, revision), location !== undefined && { location: apiPath + location })
}
