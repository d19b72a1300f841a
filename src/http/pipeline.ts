import { ApiError, notFound } from '../model/errors.ts'
import type { FirstResponse } from '../model/idempotency.ts'
import { isDryRun, type Operation, type OperationRequest, type Upload } from '../resources/operation.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { OperationResult } from '../resources/result.ts'
import { shownRevision } from '../resources/pending-removals.ts'
import { loadTarget } from '../resources/targets.ts'
import { keys } from '../store/keys.ts'
import { retryConflicts } from '../store/transact.ts'
import { Transaction } from '../store/transaction.ts'
import type { CommitLease } from '../store/commit-leases.ts'
import type { Caller } from '../authz/context.ts'
import { performAll } from './batch.ts'
import { Call, type CallRequest, type Surface } from './call.ts'
import { readEpoch, requireClaim, requireUnexpired, requirePreconditions, withItemTags } from './preconditions.ts'
import { CompressibleResponse } from './compression.ts'
import { recordResources, type DecisionRecord } from './decision-record.ts'
import { commit } from './decision-log.ts'
import { toApiError } from './error-mapping.ts'
import { findActions, findResources } from './access-search.ts'
import { evaluate, type AskingRequest } from './evaluation.ts'
import { filteredPage } from './filtered-page.ts'
import { requireValidKey } from './idempotency.ts'
import { readInput, type Input } from './input.ts'
import { LongPoll, waitSignal } from './long-poll.ts'
import type { Answer, Done, Events, Outcome } from './outcome.ts'
import { withOwnParameter, withOwnPath } from './body-members.ts'
import { authorize, requireNamed, requireScope, requireVisible } from './permission.ts'
import { prefetch } from './prefetch.ts'
import { TokenPrincipal } from './principal.ts'
import { render, renderError } from './render.ts'
import type { Services } from './services.ts'
import { Trail } from './trail.ts'
import { createUnit } from './unit.ts'
import { receiveFile } from './upload.ts'

/** Requests below /v1, with a token. */
const API: Surface = {
  name: undefined,
  isCounted: true,
  identify: (services, { request }) => new TokenPrincipal(request.headers.get('authorization'), services),
}

/** Answers a request below /v1. @returns the response; it never throws */
export async function handle(services: Services, request: CallRequest): Promise<Response> {
  const call = new Call(services, request, API)
  return conclude(services, call, {
    answer: async (answer, trail) => chargeRest(call, await render(services, call, answer, trail.step)),
    refuse: (error, trail) => renderError(call, error, trail.step),
  })
}

/** Charges what the work has cost besides what was charged before. */
function chargeRest({ cost, quota }: Call, response: Response): Response {
  if (response instanceof CompressibleResponse) cost.bytes = Buffer.byteLength(response.content)
  // Stryker disable next-line ConditionalExpression: without a rest, nothing is charged, and the headers stay as they are
  if (cost.units === cost.stated) return response
  quota.chargeDone(cost.units - cost.stated)
  for (const [name, value] of Object.entries(quota.headers)) response.headers.set(name, value)
  return response
}

/** What becomes of an answer, and of a refusal. */
interface Presentation<T> {
  answer(answer: Answer, trail: Trail): T | Promise<T>
  refuse(error: ApiError, trail: Trail): T
}

/** Answers a call. Each one, whatever its surface is, comes this way. @returns what is presented; it never throws */
export async function conclude<T extends { readonly status: number; readonly body?: ReadableStream | null }>(
  services: Services,
  call: Call,
  present: Presentation<T>,
): Promise<T> {
  const trail = new Trail(services, call)
  let refusal: ApiError | undefined
  let presented: T
  try {
    const answer = await follow(services, call, trail)
    // The bytes were needed to decide, or to compare them.
    if (answer.kind === 'replayed' || answer.kind === 'dry_run') await call.discardUpload()
    presented = await present.answer(answer, trail)
  } catch (error) {
    // Only if nothing was committed for certain. Garbage collection finds the rest.
    if (error instanceof ApiError) await call.discardUpload()
    call.quota.chargeDone(call.cost.units - call.cost.stated)
    refusal = call.quota.fail(toApiError(services.log, call.requestId, error, call.isRepeatable))
    presented = present.refuse(refusal, trail)
  }
  call.end()
  const unrecorded = await trail.record(presented.status, refusal?.code)
  if (unrecorded !== undefined) {
    await presented.body?.cancel()
    presented = present.refuse(unrecorded, trail)
  }
  call.quota.addLogged(trail.step.logBytes)
  trail.end()
  return presented
}

const MAX_ATTEMPTS = 12

/** Attempts a call until it has an outcome, and as long as its client waits for one. */
async function follow(services: Services, call: Call, trail: Trail): Promise<Answer> {
  await trail.ready() // 503
  let poll: LongPoll | undefined
  try {
    for (;;) {
      const outcome = await attemptAll(services, call, trail, undefined)
      if (outcome.kind === 'events') return { ...outcome, next: (position) => readOn(services, call, position) }
      if (outcome.kind !== 'wait') return outcome
      if (poll?.isOver === true) return outcome.otherwise
      call.leaveTurn()
      poll ??= new LongPoll(services.store, call.principal.partition, outcome.awaited, waitSignal(services, call.request))
      await poll.next(outcome.awaited.until === undefined ? undefined : outcome.awaited.until - services.clock())
      // Nobody may be there any more for whom a further attempt would write.
      if (poll.isAborted) return outcome.otherwise
    }
  } finally {
    poll?.end()
  }
}

/** The next read of a stream, which is decided like a request. A stream can last longer than a policy. */
async function readOn(began: Services, call: Call, position: string): Promise<Events> {
  const services = began.current()
  const events = (await attemptAll(services, call, new Trail(services, call), position)) as Events
  call.leaveTurn()
  return events
}

/**
 * Attempts a call until no concurrent write conflicts with it. The commit expects everything that the decision read to be unchanged. If it
 * is not, the call starts again at authentication: checking and acting are one step.
 */
function attemptAll(services: Services, call: Call, trail: Trail, position: string | undefined): Promise<Outcome> {
  const { partition } = call.principal // 401
  let isRetry = false
  return retryConflicts(services.store, partition, MAX_ATTEMPTS, (lease) => {
    const step = trail.next(isRetry)
    isRetry = true
    return attempt(services, call, lease, step, position)
  })
}

/** One attempt, in the order in which the contract refuses requests. @param position where a stream goes on */
async function attempt(
  services: Services,
  call: Call,
  lease: CommitLease | undefined,
  step: DecisionRecord,
  position: string | undefined,
): Promise<Outcome> {
  const { principal, quota } = call
  step.stage = 'credential'
  const tx = new Transaction(services.store, principal.partition, services.random, lease?.id)
  const route = services.route(call.method, call.path)
  await prefetch(services, tx, call, route)
  const caller = await principal.authenticate(services, tx, step) // 401
  step.stage = 'rate_limit'
  await quota.charge(caller) // 429
  step.stage = 'route'
  if (route instanceof ApiError) throw route // 404 405
  const { operation } = route
  const params = withOwnParameter(route.params, caller.userId)
  step.operation = operation.id
  recordResources(step, params)
  requireScope(services, operation, caller, step) // 403
  step.stage = 'input'
  const input = await readOnce(services, call, operation, params, caller) // 400 413 415 422
  const unit = unitOf(services, call, { tx, caller, params, input, lease, step, position })
  if (operation.kind === 'filtered_list') {
    await requireNamed(services, operation, unit, step) // 404
    step.stage = 'run'
    if (services.decisionLog !== undefined) step.vectors = new Map()
    const page = await filteredPage(services.engine, operation, unit, step)
    return toDone(operation, unit, input, page)
  }
  if (isDryRun(unit)) step.dryRun = true
  const key = operation.isRead || isDryRun(unit) ? undefined : call.key
  if (key !== undefined) {
    step.stage = 'idempotency'
    const path = withOwnPath(operation.path, call.path, caller.userId)
    const first = await key.find(
      tx,
      { method: call.method, path, query: input.query, body: input.body, headers: call.headers },
      unit.receive,
    ) // 409 422
    if (first !== undefined) {
      await requireStillVisible(services, operation, unit, first, step) // 404
      step.replayed = true
      return { kind: 'replayed', operation, caller, first }
    }
  }
  const loaded = await authorize(services, operation, unit, step) // 404 403
  step.stage = 'run'
  const entity = operation.entity?.(params)
  if (!operation.isRead) {
    requirePreconditions(tx, call.headers, entity) // 412
    const epoch = readEpoch(call.headers)
    if (epoch !== undefined) await requireClaim(unit, loaded, epoch, step) // 412
  }
  const result = await operation.run(unit, loaded) // 409
  if (result.stream !== undefined) return { kind: 'events', operation, caller, found: result.stream }
  if (isDryRun(unit)) return { kind: 'dry_run', operation, status: result.status ?? operation.status, caller, data: result.data }
  const changes = tx.writeCount > 0
  const named = result.entity === null ? undefined : (result.entity ?? entity)
  const done = toDone(operation, unit, input, result, named && shownRevision(tx, named))
  if (result.awaited !== undefined) return { kind: 'wait', operation, caller, awaited: result.awaited, otherwise: done }
  if (result.claimed !== undefined) step.claimed = [result.claimed]
  const created = result.location?.split('/').at(-1)
  // A repetition of what has found nothing looks again.
  if (key !== undefined && result.data !== null) {
    // What is created beside a board is a board itself: a repetition needs access to it.
    const response = firstResponse(done, loaded.board?.id ?? created)
    await quota.chargeStored(caller, await key.remember(tx, services.clock, response, await call.uploaded)) // 429
  }
  if (tx.writeCount > 0) {
    requireUnexpired(unit, step) // 412
    await commit(services.decisionLog, tx, step, done.status, changes)
  }
  if (created !== undefined) step.created = created
  return result.download === undefined ? done : { kind: 'download', operation, caller, file: result.download }
}

/** What belongs to one attempt. */
interface Attempt {
  readonly tx: Transaction
  readonly caller: Caller
  readonly params: OperationRequest['params']
  readonly input: Input
  readonly lease: CommitLease | undefined
  readonly step: DecisionRecord
  readonly position: string | undefined
}

/** What an operation is called with. */
function unitOf(services: Services, call: Call, { tx, caller, params, input, lease, step, position }: Attempt): OperationRequest {
  const query = position === undefined ? input.query : Object.assign({}, input.query, { after: position })
  const chargeQuestions = (questions: number): Awaitable<void> => {
    call.cost.questions = questions
    return call.quota.chargeFurther(caller, call.cost.stated - 1) // 429
  }
  const asking = (): AskingRequest => ({ request: unit, step, chargeQuestions, turn: call.turn(caller, lease) })
  const unit: OperationRequest = createUnit(
    services,
    { tx, caller, params, query, body: input.body },
    {
      evaluate: (questions, semantic) => evaluate(services, asking(), questions, semantic),
      findActions: (asked, page) => findActions(services, asking(), asked, page),
      findResources: (asked, page) => findResources(services, asking(), asked, page),
      perform: async (boardId, items) => {
        call.cost.operations = items.length
        await call.quota.chargeFurther(caller, call.cost.stated - 1) // 429
        return performAll(services, unit, step, boardId, items, call.turn(caller, lease))
      },
      receive: input.upload ? () => receive(services, call, caller, lease) : undefined,
      examine: (characters) => {
        call.cost.examined += characters
        return call.turn(caller, lease).spent()
      },
    },
  )
  return unit
}

/** Receives the uploaded file, in the first attempt that needs it. Others must not wait for this client. */
function receive(services: Services, call: Call, { workspaceId }: Caller, lease: CommitLease | undefined): Promise<Upload> {
  if (call.uploaded === undefined) lease?.end()
  return call.upload(() => receiveFile(services, call.request, workspaceId))
}

/** Reads the input in the first attempt. @throws {ApiError} 400, 413, 415, 422 */
function readOnce(
  services: Services,
  call: Call,
  operation: Operation,
  params: OperationRequest['params'],
  caller: Caller,
): Input | Promise<Input> {
  requireValidKey(call.method, call.headers) // 400
  if (!operation.isRead) readEpoch(call.headers) // 400
  const search = operation.isStream ? continued(call) : call.search
  const beforeLarge = () => call.turn(caller).take()
  return call.input(() => readInput(call.request, search, operation, params, caller.userId, services.uploadBytes, beforeLarge))
}

/** The query of a stream. A client that reconnects states the last event that it has. */
function continued({ headers, search }: Call): string {
  const id = headers.get('last-event-id')
  if (id === null || id === '') return search
  const query = new URLSearchParams(search)
  query.set('after', id)
  return `?${query.toString()}`
}

function toDone(
  operation: Operation,
  unit: OperationRequest,
  { fields }: Input,
  { status, data, nextCursor, location }: Pick<OperationResult, 'status' | 'data' | 'nextCursor' | 'location'>,
  revision?: string,
): Done {
  const shown = nextCursor === undefined ? data : withItemTags(operation, unit, data)
  return {
    kind: 'done',
    operation,
    status: status ?? operation.status,
    caller: unit.caller,
    data: shown,
    nextCursor,
    fields,
    revision,
    location,
  }
}

/** What is kept of a write with an Idempotency-Key. */
function firstResponse({ status, data, revision, location }: Done, boardId: string | undefined) {
  return { board_id: boardId ?? null, status, data, revision: revision ?? null, location: location ?? null }
}

/**
 * Decides on access to what a first response shows as it is now (spec §5 "Credential" 5; api: Contract 3, number 2): to its board, or else to
 * the target of the path. What was deleted since is answered like what is hidden, unless the deletion of the board is the write: only that
 * shows nothing of it.
 * @throws {ApiError} `not_found`
 */
async function requireStillVisible(
  services: Services,
  operation: Operation & { kind: 'single' },
  request: OperationRequest,
  first: FirstResponse,
  step: DecisionRecord,
): Promise<void> {
  const { tx, caller } = request
  const { board_id } = first
  if (board_id === null) {
    step.absent = true
    const target = await loadTarget(operation.target, request)
    delete step.absent
    return requireVisible(services, operation, caller, target, step, { isWhole: true })
  }
  const [board, boardMember] = await tx.read([keys.board(board_id), keys.boardMember(board_id, caller.userId)])
  if (board !== undefined) {
    // The creation of a board is decided without one.
    for (const { permission } of [operation, READ_BOARD]) requireVisible(services, { permission }, caller, { board, boardMember }, step)
    return
  }
  if (isDeletionOf(board_id, first)) return
  step.absent = true
  throw notFound()
}

/** Who reads a board may see what was answered about it. */
const READ_BOARD = { permission: 'read Board' }

function isDeletionOf(boardId: string, { data }: FirstResponse): boolean {
  const { id, deleted } = data as { readonly id?: unknown; readonly deleted?: unknown }
  return id === boardId && deleted === true
}
