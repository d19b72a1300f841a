import { andThen, type Awaitable } from '../model/awaitable.ts'
import { ApiError } from '../model/errors.ts'
import { isDryRun, type Upload } from '../resources/operation.ts'
import type { OperationResult } from '../resources/result.ts'
import { shownRevision } from '../resources/pending-removals.ts'
import type { After, Attempt, Found, ListOperation, SingleOperation } from './attempt.ts'
import type { Call } from './call.ts'
import { withOwnParameter, withOwnPath } from './body-members.ts'
import { commit as commitRecorded } from './decision-log.ts'
import { recordResources } from './decision-record.ts'
import { filteredPage } from './filtered-page.ts'
import { requireValidKey, type IdempotentWrite } from './idempotency.ts'
import { readInput } from './input.ts'
import type { Done, Outcome } from './outcome.ts'
import { authorize, requireNamed, requireScope } from './permission.ts'
import { readEpoch, requireClaim, requirePreconditions, requireStatedClaim, requireUnexpired, withItemTags } from './preconditions.ts'
import { prefetch } from './prefetch.ts'
import { requireStillVisible } from './replay.ts'
import { Unit } from './unit.ts'
import { announcedSize, receiveFile } from './upload.ts'

/** An attempt that has its input, its decision, its result. */
type Ready = After<'caller' | 'operation' | 'params' | 'input' | 'unit'>
type Decided = Ready & After<'loaded'>
type Performed = Decided & After<'result' | 'done'>

/** The Idempotency-Key that counts. */
function keyOf({ unit, call }: After<'unit'>): IdempotentWrite | undefined {
  return isDryRun(unit) ? undefined : call.key
}

export function readAhead({ services, tx, call, route, record, mayRecall }: Attempt): Awaitable<void> {
  record.stage = 'credential'
  return prefetch(services, tx, call, route, mayRecall)
}

export function authenticate(attempt: Attempt): Awaitable<Found<'caller'>> {
  const { services, call, tx, record } = attempt
  return andThen(call.principal.authenticate(services, tx, record), (caller) => attempt.found({ caller }))
}

export function charge({ call, caller, record }: After<'caller'>): Awaitable<void> {
  record.stage = 'rate_limit'
  return call.quota.charge(caller)
}

export function findOperation(attempt: After<'caller'>): Found<'operation' | 'params'> {
  const { route, record, caller } = attempt
  record.stage = 'route'
  if (route instanceof ApiError) throw route
  const params = withOwnParameter(route.params, caller.userId)
  record.operation = route.operation.id
  recordResources(record, params)
  attempt.tx.performs(route.operation.id)
  return attempt.found({ operation: route.operation, params })
}

export function checkScope({ services, operation, caller, record }: After<'caller' | 'operation'>): void {
  requireScope(services, operation, caller, record)
}

export function takeInput(attempt: After<'caller' | 'operation' | 'params'>): Awaitable<Found<'input' | 'unit'>> {
  const { services, call, operation, params, caller, record } = attempt
  record.stage = 'input'
  requireValidKey(call.method, call.headers)
  if (!operation.isRead) readEpoch(call.headers)
  const search = operation.isStream ? continued(call) : call.search
  const weighing = { beforeLarge: () => call.turn(caller).take(), cost: call.cost }
  call.input ??= readInput(call.request, search, operation, params, caller.userId, services.uploadBytes, weighing)
  return andThen(call.input, (input) => {
    const query = attempt.position === undefined ? input.query : Object.assign({}, input.query, { after: attempt.position })
    const given = { tx: attempt.tx, caller, params, query, body: input.body, receive: input.upload ? () => receive(attempt) : undefined }
    return attempt.found({ input, unit: new Unit(services, given, attempt) })
  })
}

/** Receives the uploaded file, in the first attempt that needs it. Others must not wait for this client. */
async function receive(attempt: After<'caller'>): Promise<Upload> {
  const { call, services, caller } = attempt
  attempt.requireVerified()
  if (call.uploaded === undefined) attempt.endLease()
  const upload = await call.upload(async () => {
    await call.quota.chargeUpload(caller, announcedSize(call.headers)) // 429
    try {
      return await receiveFile(services, call.request, caller.workspaceId, attempt.turn, call.cost)
    } catch (error) {
      // What was received has cost as much as if it had been kept.
      call.quota.chargeFailedUpload(caller, call.cost.uploaded)
      throw error
    }
  })
  await call.quota.chargeUpload(caller, upload.size)
  return upload
}

/** The query of a stream. A client that reconnects states the last event that it has. */
function continued({ headers, search }: Call): string {
  const id = headers.get('last-event-id')
  if (id === null || id === '') return search
  const query = new URLSearchParams(search)
  query.set('after', id)
  return `?${query.toString()}`
}

export function checkNamed({ services, operation, unit, record }: After<'operation' | 'unit'>): Promise<void> {
  return requireNamed(services, operation as ListOperation, unit, record)
}

/** A list whose items are decided one by one. */
export function list(attempt: Ready): Promise<Outcome> {
  const { services, operation, unit, record } = attempt
  record.stage = 'run'
  if (services.decisionLog !== undefined) record.vectors = new Map()
  return filteredPage(services.engine, operation as ListOperation, unit, record).then((page): Outcome => {
    const done = doneOf(attempt, page)
    const { awaited, data } = page
    if (awaited === undefined || awaited.seconds === 0 || data.length > 0) return done
    return { kind: 'wait', operation, caller: attempt.caller, awaited, otherwise: done }
  })
}

/** Answers a repetition with the first response. */
export function replay(attempt: Ready): Awaitable<Outcome | void> {
  const { services, call, operation, caller, input, unit, tx, record } = attempt
  const key = keyOf(attempt)
  if (isDryRun(unit)) record.dryRun = true
  if (key === undefined) return undefined
  record.stage = 'idempotency'
  const path = withOwnPath(operation.path, call.path, caller.userId)
  const asked = { method: call.method, path, query: input.query, body: input.body, headers: call.headers }
  return andThen(key.find(tx, asked, unit.receive), async (first) => {
    if (first === undefined) return undefined
    await requireStillVisible(services, operation as SingleOperation, unit, first, record)
    record.replayed = true
    return { kind: 'replayed', operation, caller, first }
  })
}

export function decide(attempt: Ready): Awaitable<Found<'loaded'>> {
  const { services, operation, unit, record } = attempt
  return andThen(authorize(services, operation as SingleOperation, unit, record), (loaded) => {
    record.stage = 'run'
    return attempt.found({ loaded })
  })
}

export function checkPreconditions({ call, operation, params, tx, unit, loaded, record }: Decided): Awaitable<void> {
  requirePreconditions(tx, call.headers, operation.entity?.(params))
  const epoch = readEpoch(call.headers)
  requireStatedClaim(operation, epoch)
  return epoch === undefined ? undefined : requireClaim(unit, loaded, epoch, record)
}

/** Performs the operation. What it writes is not committed yet. */
export function perform(attempt: Decided): Awaitable<Outcome | Found<'result' | 'done'>> {
  const { operation, params, position, unit, loaded } = attempt
  const run = () => (operation as SingleOperation).run(unit, loaded)
  // The first read of a stream finds many changes at once. Its further reads have their turns.
  const turn = operation.isStream && position === undefined ? attempt.turn.take() : undefined
  return andThen(andThen(turn, run), (result: OperationResult) => {
    const { caller, tx, record } = attempt
    if (result.stream !== undefined) return { kind: 'events', operation, caller, found: result.stream }
    if (isDryRun(unit)) return { kind: 'dry_run', operation, status: result.status ?? operation.status, caller, data: result.data }
    const named = result.entity === null ? undefined : (result.entity ?? operation.entity?.(params))
    const done = doneOf(attempt, result, named && shownRevision(tx, named))
    if (result.awaited !== undefined) return { kind: 'wait', operation, caller, awaited: result.awaited, otherwise: done }
    if (result.download !== undefined) return { kind: 'download', operation, caller, file: result.download }
    if (result.claimed !== undefined) record.claimed = [result.claimed]
    if (result.work !== undefined) record.work = result.work
    return attempt.found({ result, done })
  })
}

/** Adds the response to the commit, for repetitions. A repetition of a request that found nothing looks again. */
export function remember(attempt: Performed): Awaitable<Found<'changes'>> {
  const { call, caller, tx, services, loaded, result, done } = attempt
  const key = keyOf(attempt)
  // The memory of a response alone is no change.
  const changes = attempt.found({ changes: tx.writeCount > 0 })
  if (key === undefined || result.data === null) return changes
  const { status, revision, location } = done
  const data = result.remembered ?? done.data
  // What is created beside a board is a board itself: a repetition needs access to it.
  const board_id = loaded.board?.id ?? createdBy(result) ?? null
  const response = { board_id, status, data, revision: revision ?? null, location: location ?? null }
  return andThen(call.uploaded, (upload) =>
    andThen(key.remember(tx, services.clock, response, upload), (bytes) => andThen(call.quota.chargeStored(caller, bytes), () => changes)),
  )
}

export function commit({ services, call, tx, unit, record, done, changes }: Performed & After<'changes'>): Awaitable<void> {
  if (tx.writeCount === 0) return undefined
  requireUnexpired(unit, record)
  return andThen(commitRecorded(services.decisionLog, tx, record, done.status, changes), () => {
    call.cost.notices = tx.notifying?.notices ?? 0
  })
}

export function finish({ record, result, done }: Performed): Outcome {
  const created = createdBy(result)
  if (created !== undefined) record.created = created
  return done
}

/** The id of the created resource. */
function createdBy({ location }: OperationResult): string | undefined {
  return location?.slice(location.lastIndexOf('/') + 1)
}

function doneOf(
  { operation, unit, input, caller }: Ready,
  { status, data, nextCursor, location }: Pick<OperationResult, 'status' | 'data' | 'nextCursor' | 'location'>,
  revision?: string,
): Done {
  const shown = nextCursor === undefined ? data : withItemTags(operation, unit, data)
  const { fields } = input
  return { kind: 'done', operation, status: status ?? operation.status, caller, data: shown, nextCursor, fields, revision, location }
}
