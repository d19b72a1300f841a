import type { ServerRequest } from 'srvx'
import type { Caller } from '../authz/context.ts'
import { ApiError } from '../model/errors.ts'
import type { FileRecord } from '../model/file.ts'
import { isId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { TokenRecord } from '../model/token.ts'
import { isActive } from '../model/workspace.ts'
import type { Operation, OperationRequest } from '../resources/operation.ts'
import type { StreamedResult } from '../resources/result.ts'
import { loadTarget } from '../resources/targets.ts'
import { keys } from '../store/keys.ts'
import { retryConflicts } from '../store/transact.ts'
import { Transaction } from '../store/transaction.ts'
import type { Turn } from '../store/turns.ts'
import { recordResources } from './decision-lines.ts'
import { resetRecord, type DecisionRecord } from './decision-record.ts'
import { toApiError } from './error-mapping.ts'
import { filteredPage } from './filtered-page.ts'
import { clientSignal } from './in-flight.ts'
import { readQuery } from './input.ts'
import { definitionsFor, requireAccess } from './permission.ts'
import type { Services } from './services.ts'

/** A read that the web app makes for a person who is signed in. */
export interface PersonRead {
  /** the user of a session that is valid now */
  readonly userId: string
  readonly workspaceId: string
  /** the id of a row of the operations table that reads */
  readonly operation: string
  readonly params?: Readonly<Record<string, string>>
  /** as below /v1; members that are undefined are left out */
  readonly query?: Readonly<Record<string, string | undefined>>
  /** that of the page */
  readonly requestId: string
  readonly request: ServerRequest
  /** the next read of a stream, which writes no record: where it goes on, and what several streams have read together */
  readonly next?: { readonly position: string; readonly ahead: StreamedResult | undefined }
}

/** What a read has found. */
export interface PersonResult {
  readonly caller: Caller
  readonly data: unknown
  readonly nextCursor?: string | null | undefined
  readonly download?: FileRecord | undefined
  readonly stream?: StreamedResult | undefined
}

/** Stands for the token that a person in the web app does not have. It has no scope, and no hash is empty. */
const NO_TOKEN: TokenRecord = Object.freeze({
  id: '',
  hash: '',
  user_id: '',
  name: '',
  scopes: [],
  issued_at: '',
  expires_at: '',
  revoked_at: null,
  replaced_by: null,
})
const MAX_ATTEMPTS = 12

/**
 * Reads something for a person who is signed in, as a request below /v1 would read it: with the same input, facts, permission table
 * and operations. Only the scope stage is left out, because there is no token. The membership is that of this moment.
 * @throws {ApiError} as the operation below /v1; `not_found` for a workspace of which the person is no active member
 */
export async function readAsPerson(services: Services, read: PersonRead): Promise<PersonResult> {
  const operation = readOperation(services, read.operation)
  const { log, decisionLog, engine, store } = services
  const record: DecisionRecord = {
    surface: 'web_app',
    requestId: read.requestId,
    method: 'GET',
    arrivedAt: performance.now(),
    policy: engine.hash,
    attempts: 0,
    status: operation.status,
  }
  if (read.next !== undefined) return retryAttempts(services, operation, read, record)
  await decisionLog?.ready(record)
  try {
    if (!isId('workspace', read.workspaceId)) throw new ApiError('not_found')
    const result = await retryAttempts(services, operation, read, record)
    await requireRecorded(services, record)
    return result
  } catch (error) {
    if (record.isUnrecorded) throw error
    const reason = toApiError(log, read.requestId, error)
    Object.assign(record, { code: reason.code, status: reason.status })
    await requireRecorded(services, record)
    throw reason
  }

  function retryAttempts(...[given, row, one, of]: Parameters<typeof attempt>): Promise<PersonResult> {
    return retryConflicts(store, one.workspaceId, MAX_ATTEMPTS, (turn) => attempt(given, row, one, of, turn))
  }
}

/** @throws {TypeError} if the web app may not use the operation: it writes, or it is about the token of the request */
function readOperation({ operations }: Services, id: string): Operation {
  const operation = operations.find((row) => row.id === id)
  if (operation === undefined || !operation.isRead || operation.method !== 'GET' || operation.path === '/account')
    throw new TypeError(`${id} is no operation that the web app reads with`)
  return operation
}

/** One attempt, in the order in which a request below /v1 is refused. */
async function attempt(
  services: Services,
  operation: Operation,
  read: PersonRead,
  record: DecisionRecord,
  turn?: Turn,
): Promise<PersonResult> {
  if (++record.attempts > 1) resetRecord(record)
  const { userId, workspaceId, params = {} } = read
  const tx = new Transaction(services.store, workspaceId, services.random, turn?.id)
  record.stage = 'credential'
  Object.assign(record, { userId, workspaceId, operation: operation.id })
  recordResources(record, params)
  const membership = await tx.get(keys.membership(userId))
  if (!isActive(membership)) throw new ApiError('not_found')
  const caller: Caller = { userId, workspaceId, membership, token: NO_TOKEN }
  record.stage = 'input'
  const request = requestOf(services, operation, read, { tx, caller }, turn !== undefined)
  if (operation.kind === 'filtered_list') {
    record.stage = 'run'
    if (services.decisionLog !== undefined) record.vectors = new Map()
    const { data, nextCursor } = await filteredPage(services.engine, operation, request, record)
    await tx.commit()
    return { caller, data, nextCursor }
  }
  record.stage = 'target'
  const loaded = await requireAccess(services, operation, request, await loadTarget(operation.target, request), record) // 404 403
  record.stage = 'run'
  const result = await operation.run(request, loaded)
  await tx.commit()
  return { caller, data: result.data, nextCursor: result.nextCursor, download: result.download, stream: result.stream }
}

function requestOf(
  services: Services,
  operation: Operation,
  { request, params = {}, query = {}, userId, workspaceId, next }: PersonRead,
  own: Pick<OperationRequest, 'tx' | 'caller'>,
  hasTurn: boolean,
): OperationRequest {
  const { clock, random, batch = limits.batch, scans } = services
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const scanner = { workspaceId, userId, hasTurn }
  const valid = readQuery(operation, given.length === 0 ? '' : `?${new URLSearchParams(given)}`)
  return {
    ...own,
    params,
    query: next === undefined ? valid : Object.assign({}, valid, { after: next.position }),
    body: undefined,
    clock,
    random,
    batch,
    holds: definitionsFor(services, own.caller),
    evaluate: notOffered,
    perform: notOffered,
    ahead: next?.ahead,
    receive: undefined,
    beginScan: () => scans.begin({ ...scanner, signal: clientSignal(request) }),
  }
}

async function notOffered(): Promise<never> {
  throw new TypeError('the web app only reads')
}

/** Writes the record, as for a request. @throws {ApiError} `unavailable` if the decision log cannot take it */
async function requireRecorded({ decisionLog }: Services, record: DecisionRecord): Promise<void> {
  if ((await decisionLog?.finish(record)) !== false) return
  record.isUnrecorded = true
  throw new ApiError('unavailable', { message: 'The decision log cannot take the record of this request. Try again soon.' })
}
