import type { AuthorizationContext } from '../authz/context.ts'
import type { FirstResponse } from '../model/idempotency.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import type { OperationResult, StreamedResult } from '../resources/result.ts'
import { shownRevision } from '../resources/removals.ts'
import type { Key } from '../store/keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { commit } from './decision-log.ts'
import type { DecisionRecord } from './decision-record.ts'
import { download } from './download.ts'
import { dataResponse, notModifiedResponse } from './envelope.ts'
import { selectFields } from './fields.ts'
import type { Incoming, ReadOnce } from './incoming.ts'
import { isPage, listResponse } from './list-response.ts'
import { openStream } from './open-stream.ts'
import { entityHeaders, isCurrent, requireMatch, requireNoMatch } from './preconditions.ts'
import type { Services } from './services.ts'
import { NothingYet } from './waiting.ts'

/** Runs an operation that is allowed, commits, and makes the response. */
export async function run(
  services: Services,
  incoming: Incoming,
  operation: Operation & { kind: 'single' },
  request: OperationRequest,
  loaded: AuthorizationContext,
  once: ReadOnce,
  record: DecisionRecord,
): Promise<Response> {
  const {
    requestId,
    method,
    request: { headers },
  } = incoming
  const { tx } = request
  const reads = operation.isRead
  const entity = operation.entity?.(request.params)
  if (!reads) requirePreconditions(tx, headers, entity) // 412
  const result = await operation.run(request, loaded) // 409
  // A batch counts its operations.
  const rateHeaders = once.rates?.headers ?? {}
  if (result.awaited !== undefined && once.longPoll?.isOver !== true) throw new NothingYet(result.awaited)
  if (result.stream !== undefined) return streamResponse(services, incoming, request, result.stream, once)
  if (once.isDryRun) return dryRunResponse(services, incoming, operation, result, once)
  const named = result.entity === null ? undefined : (result.entity ?? entity)
  const revision = named && shownRevision(tx, named)
  const { status } = operation
  const changes = tx.writeCount > 0
  if (once.idempotent !== undefined) {
    const board_id = loaded.board?.id ?? null
    const response = { board_id, status, data: result.data, revision: revision ?? null, location: result.location ?? null }
    await once.idempotent.remember(tx, request.clock, response, await once.upload)
  }
  await commit(services.decisionLog, tx, record, status, changes)
  const created = result.location?.split('/').at(-1)
  if (created !== undefined) record.created = created
  if (result.download !== undefined) return await download(requestId, method, headers, result.download, services.blobs, rateHeaders)
  if (isPage(result)) return listResponse(incoming, status, result, once) // 412
  if (reads) requireMatch(headers, revision) // 412
  const all = Object.assign({}, rateHeaders, resourceHeaders(headers, revision, result.location))
  if (reads && isCurrent(headers, revision)) return notModifiedResponse(requestId, all)
  return dataResponse(requestId, status, selectFields(result.data, once.input?.fields), undefined, all)
}

/** Begins a stream of events, or adds to the one that has begun. */
function streamResponse(services: Services, incoming: Incoming, { tx }: OperationRequest, found: StreamedResult, once: ReadOnce): Response {
  const begins = once.stream === undefined
  if (begins) requireMatch(incoming.request.headers, undefined)
  once.stream ??= openStream(services, incoming, tx.partition, found)
  once.stream.add(found)
  return begins ? once.stream.respond(incoming.method, once.rates?.headers ?? {}) : new Response()
}

/** Answers what a write would answer. Nothing is committed, so a created resource has neither a path nor an ETag. */
async function dryRunResponse(
  services: Services,
  { requestId }: Incoming,
  { status }: Operation,
  { data }: OperationResult,
  once: ReadOnce,
): Promise<Response> {
  await removeUpload(services, once)
  return dataResponse(requestId, status, data, undefined, { ...once.rates?.headers, 'dry-run': 'true' })
}

/** Removes the bytes of an upload that no file needs. Garbage collection finds what remains. */
export async function removeUpload({ blobs }: Services, { upload }: ReadOnce): Promise<void> {
  await upload?.then(({ blobId }) => blobs.remove(blobId)).catch(() => undefined)
}

/** Checks the preconditions of a write. Its commit then relies on them. @throws {ApiError} `precondition_failed` */
function requirePreconditions(tx: Transaction, headers: Headers, entity: Key<unknown> | undefined): void {
  if (!headers.has('if-match') && !headers.has('if-none-match')) return
  const revision = entity && shownRevision(tx, entity)
  requireMatch(headers, revision)
  requireNoMatch(headers, revision)
  if (entity !== undefined) tx.relyOnWhole(entity)
}

/** Answers a write that was made before, by a request with the same Idempotency-Key. */
export async function replay(
  services: Services,
  { requestId, request: { headers } }: Incoming,
  { status, data, revision, location }: FirstResponse,
  once: ReadOnce,
  record: DecisionRecord,
): Promise<Response> {
  // The bytes were needed to compare them.
  await removeUpload(services, once)
  record.replayed = true
  const all = {
    ...once.rates?.headers,
    ...resourceHeaders(headers, revision ?? undefined, location ?? undefined),
    'idempotent-replayed': 'true',
  }
  return dataResponse(requestId, status, data, undefined, all)
}

function resourceHeaders(headers: Headers, revision: string | undefined, location: string | undefined): Record<string, string> {
  return Object.assign(entityHeaders(headers, revision), location !== undefined && { location: `/v1${location}` })
}
