import { andThen, type Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import type { Call } from './call.ts'
import type { DecisionRecord } from './decision-record.ts'
import { download } from './download.ts'
import { dataResponse, errorResponse, notModifiedResponse } from './envelope.ts'
import { openStream } from './event-stream.ts'
import { selectFields } from './fields.ts'
import { piecesOf, type Pieces } from './json-body.ts'
import { listResponse } from './list-response.ts'
import type { Answer, Done, Events } from './outcome.ts'
import { entityHeaders, isCurrent, requireMatch } from './preconditions.ts'
import type { Services } from './services.ts'

/**
 * The response below /v1 to a call that was not refused.
 * @throws {ApiError} `precondition_failed` for a read, `range_not_satisfiable`
 */
export async function render(services: Services, call: Call, answer: Answer, step: DecisionRecord): Promise<Response> {
  const { requestId, method, headers } = call
  const client = call.client()
  const shared = { ...call.quota.headers, ...expiryHeader(step) }
  const json = (data: unknown) =>
    piecesOf(data, (length) => {
      // The work is done also if the client has the answer already (304).
      call.work.bytes = length
      return services.admission.serialize(client, length, call.work)
    })
  switch (answer.kind) {
    case 'events':
      return renderEvents(services, call, answer, shared)
    case 'download':
      return download(requestId, method, headers, answer.file, services.blobs, shared)
    case 'dry_run':
      return dataResponse(requestId, answer.operation.status, await json(answer.data), { ...shared, 'dry-run': 'true' })
    case 'replayed': {
      const { status, data, revision, location } = answer.first
      const own = resourceHeaders(headers, revision ?? undefined, location ?? undefined)
      return dataResponse(requestId, status, await json(data), { ...shared, ...own, 'idempotent-replayed': 'true' })
    }
    case 'done':
      return renderDone(call, answer, shared, answer.operation.isRead ? json : (data) => orNothing(json(data)))
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
  { requestId, headers }: Call,
  { operation, data, nextCursor, fields, revision, location }: Done,
  shared: Readonly<Record<string, string>>,
  json: (data: unknown) => Awaitable<Pieces>,
): Awaitable<Response> {
  const { status, isRead } = operation
  if (nextCursor !== undefined) {
    requireMatch(headers, undefined) // 412
    return andThen(json(selectFields(data, fields)), (pieces) => listResponse(requestId, headers, status, pieces, nextCursor, shared))
  }
  if (isRead) requireMatch(headers, revision) // 412
  const all = Object.assign({}, shared, resourceHeaders(headers, revision, location))
  if (isRead && isCurrent(headers, revision)) return notModifiedResponse(requestId, all)
  return andThen(json(selectFields(data, fields)), (pieces) => dataResponse(requestId, status, pieces, all))
}

function renderEvents(
  services: Services,
  call: Call,
  { found, next }: Events & Answer & { kind: 'events' },
  shared: Record<string, string>,
): Response {
  requireMatch(call.headers, undefined) // 412
  const stream = openStream(
    services,
    { request: call.request, requestId: call.requestId, partition: call.principal.partition },
    found,
    async (position) => (await next(position)).found,
  )
  return stream.respond(call.method, shared)
}

/** The response to a call that was refused. */
export function renderError({ requestId, quota }: Call, error: ApiError, step: DecisionRecord): Response {
  return errorResponse(requestId, error, { ...quota.headers, ...expiryHeader(step) })
}

function expiryHeader({ tokenExpires }: DecisionRecord): Record<string, string> {
  return tokenExpires === undefined ? {} : { 'lanekeeper-token-expires': tokenExpires }
}

function resourceHeaders(headers: Headers, revision: string | undefined, location: string | undefined): Record<string, string> {
  return Object.assign(entityHeaders(headers, revision), location !== undefined && { location: `/v1${location}` })
}
