import { ApiError, notFound } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { BatchItem, BatchResult } from '../resources/batch/schema.ts'
import { isDryRun, namesInPath, type Operation, type OperationRequest } from '../resources/operation.ts'
import { shownRevision } from '../resources/pending-removals.ts'
import { loadTarget } from '../resources/targets.ts'
import type { Key } from '../store/keys.ts'
import { requireClaim, entityTag, requireMatch, requireStatedClaim } from './preconditions.ts'
import { isIdMember, shapeOf, withOwnMembers, withOwnParameter } from './body-members.ts'
import { invalidMember, Issues, type Refuse } from '../model/validation.ts'
import { recordResources, type AttemptRecord, type ItemRecord } from './decision-record.ts'
import { requireAccess, requireScope } from './permission.ts'
import { prefetchTargets } from './prefetch.ts'
import type { Services, UsingAttempt } from './services.ts'
import { Decisions } from '../authz/decisions.ts'
import { isBatchable } from '../resources/batch/operations.ts'
import { issuesOf } from './input.ts'

/**
 * Performs the operations of a batch in the transaction of its request, with pauses between them. Each is decided as if it were requested
 * alone, after the ones before it, and sees what they have written.
 * @throws {ApiError} the error of the first one that fails, with its `index`; nothing is changed then
 */
export async function performAll(attempt: UsingAttempt, boardId: string, items: readonly BatchItem[]): Promise<BatchResult[]> {
  await attempt.chargeStated({ operations: items.length }) // 429
  const { services, unit: request, record, turn } = attempt
  const planned = plan(services, request.caller.userId, boardId, items)
  // Redis sends all cards at once, and up to a hundred of the longest ones are decoded at once.
  if (services.store.isRemote) await turn.take()
  // What an earlier operation creates is not looked for: a reference is no id. An error is answered in its turn.
  await prefetchTargets(request, planned)
  const performed: Performed[] = []
  const records: ItemRecord[] = []
  let bytes = 0
  record.batch = records
  for (const [index, one] of planned.entries()) {
    await turn.spent()
    const own: ItemRecord = { operation: one.operation.id }
    records.push(own)
    try {
      requireRoom(request.tx, index)
      const done = await perform(services, request, planned, performed, boardId, own, record)
      bytes += Buffer.byteLength(JSON.stringify(done.result.data))
      if (bytes > limits.pageBytes) throw refusal(index, `makes the response longer than ${limits.pageBytes} bytes`)
      performed.push(done)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      own.code = error.code
      throw new ApiError(error.code, { ...error.details, members: { ...error.details.members, index } })
    }
  }
  return performed.map(({ result, named }) => (isSuperseded(request.tx, named) ? { ...result, etag: null } : result))
}

/** What one operation of a batch has done. */
interface Performed {
  /** what is true after this operation, as its own response would say. Later operations of the batch may change it. */
  readonly result: BatchResult
  /** undefined: it names no resource */
  readonly named: Named | undefined
}

/** The resource that a result names, as the operation has left it. */
interface Named {
  readonly key: Key<unknown>
  /** what the batch has written of it so far: undefined if nothing. What was only read may be read again, as another object. */
  readonly written: unknown
  readonly revision: string | undefined
}

/** Whether a later operation has changed the resource: the ETag then belongs to another state. */
function isSuperseded(tx: OperationRequest['tx'], named: Named | undefined): boolean {
  if (named === undefined) return false
  const { key, written, revision } = named
  // The removal of a label that many cards have is pending: the records of some are still the same, but not what is shown of them.
  return writtenOf(tx, key) !== written || shownRevision(tx, key) !== revision
}

function writtenOf(tx: OperationRequest['tx'], key: Key<unknown>): unknown {
  return tx.isWritten(key) ? tx.known(key) : undefined
}

/**
 * Each further record makes the later operations of a transaction slower.
 * @throws {ApiError} `validation_failed`
 */
function requireRoom({ writeCount }: OperationRequest['tx'], index: number): void {
  if (writeCount > limits.batchRecords) throw refusal(index, `comes after more than ${limits.batchRecords} changes in this batch`)
}

/** @param member of the operation, with the dot before it */
function refusal(index: number, message: string, member = ''): ApiError {
  return invalidMember(`operations.${index}${member}`, message)
}

/**
 * Performs the next operation.
 * @param performed those before it
 */
async function perform(
  services: Services,
  request: OperationRequest,
  planned: readonly PlannedOperation[],
  performed: readonly Performed[],
  boardId: string,
  record: ItemRecord,
  ofBatch: AttemptRecord,
): Promise<Performed> {
  const { tx } = request
  const index = performed.length
  const { operation, params, body, ifMatch, ifClaim } = planned[index]!
  tx.performs(operation.id)
  // Lists are ordered by time: what one commit creates has the order of the batch.
  const later = operation.status === 201 ? planned.slice(0, index).filter((one) => one.operation.status === 201).length : 0
  const idOf = (text: string): string => (REFERENCE.test(text) ? String(performed[Number(text.slice(1))]!.result.data['id']) : text)
  const own = request.with({
    params: Object.fromEntries(Object.entries(params).map(([name, text]) => [name, idOf(text)])),
    query: {},
    body: withIds(operation, body, idOf),
    clock: () => request.clock() + later,
    receive: undefined,
  })
  recordResources(record, own.params)
  const broken = operation.bodyRule?.(own.params, own.body)
  if (broken !== undefined) throw refusal(index, broken.message, `.body.${broken.path}`)
  requireScope(services, operation, request.caller, record) // 403
  const target = await loadTarget(operation.target, own) // 404
  if (target.board?.id !== boardId) throw notFound()
  const loaded = await requireAccess(services, operation, own, target, record) // 404 403
  const entity = operation.entity?.(own.params)
  if (ifMatch !== undefined) {
    // The ETag that it has in this transaction is one that no client can know.
    if (entity !== undefined && tx.isWritten(entity)) throw new ApiError('precondition_failed')
    requireMatch(new Headers({ 'if-match': ifMatch }), entity && shownRevision(tx, entity)) // 412
    if (entity !== undefined) tx.relyOnWhole(entity)
  }
  requireStatedClaim(operation, ifClaim) // 428
  if (ifClaim !== undefined) await requireClaim(own, loaded, ifClaim, ofBatch) // 412
  const result = await operation.run(own, loaded) // 409
  if (result.claimed !== undefined) ofBatch.claimed = [...(ofBatch.claimed ?? []), result.claimed]
  if (result.work !== undefined) ofBatch.work = [...(ofBatch.work ?? []), ...result.work]
  const named = result.entity === null ? undefined : (result.entity ?? entity)
  const revision = named && shownRevision(tx, named)
  const etag = revision === undefined || isDryRun(request) ? null : entityTag(revision)
  return {
    result: { operation: operation.id, data: result.data as Record<string, unknown>, etag },
    named: named && { key: named, written: writtenOf(tx, named), revision },
  }
}

/** A body with ids in place of the references that its members have. */
function withIds(operation: Operation, body: unknown, idOf: (text: string) => string): unknown {
  if (body === undefined) return undefined
  const shape = shapeOf(operation)
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    // Stryker disable next-line ConditionalExpression: what is no text, such as null, is no reference, and idOf would return it as it is
    return typeof value === 'string' ? idOf(value) : value
  }
  return Object.fromEntries(
    Object.entries(body as object).map(([name, value]) => [name, isIdMember(shape[name]!) ? resolve(value) : value]),
  )
}

/** A text that stands for the id of a resource that an earlier operation has created. */
const REFERENCE = /^\$(0|[1-9][0-9]?)$/

/** What is known of an operation of a batch before the batch begins. */
export interface PlannedOperation {
  readonly operation: Operation & { kind: 'single' }
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
  readonly ifMatch: string | undefined
  readonly ifClaim: number | undefined
}

/**
 * Makes all checks of the operations of a batch that need no storage.
 * @param userId the caller, whom `me` stands for
 * @throws {ApiError} `validation_failed`, with the issues of all
 */
function plan(services: Services, userId: string, boardId: string, items: readonly BatchItem[]): PlannedOperation[] {
  const issues = new Issues()
  const planned = items.flatMap((item, index) => {
    const refuse: Refuse = (path, message) => issues.refuse(`operations.${index}.${path}`, message)
    const operation = findOperation(services, item, refuse)
    if (operation === undefined) return []
    const params = withOwnParameter(paramsOf(operation, item, boardId, refuse), userId)
    const body = bodyOf(operation, { ...item, body: withOwnMembers(operation.body, item.body, userId) }, refuse)
    checkReferences({ operation, params, body }, items.slice(0, index), services.operations, refuse)
    return [{ operation, params, body, ifMatch: item.if_match, ifClaim: item.if_claim }]
  })
  issues.throwIfAny()
  return planned
}

/** A batch has the scope of routine writes. An operation that requires more must not be done with it (spec §5, "Scopes"). */
function findOperation({ operations, engine }: Services, { operation: id }: BatchItem, refuse: Refuse) {
  const operation = operations.find((row) => row.id === id)
  if (operation?.kind !== 'single' || !isBatchable(operation)) return void refuse('operation', 'is not the id of a write on a board')
  const decisions = Decisions.of(engine)
  const { required: scope } = decisions.scope('batch Board', { scopes: [] })
  const { allowed, required } = decisions.scope(operation.permission, { scopes: [scope] })
  if (allowed) return operation
  return void refuse('operation', `requires ${required}: a batch cannot have it`)
}

function paramsOf({ path }: Operation, { params }: BatchItem, boardId: string, refuse: Refuse): Record<string, string> {
  const names = namesInPath(path)
  for (const name of Object.keys(params)) if (!names.includes(name)) refuse(`params.${name}`, 'is not a parameter of this operation')
  return Object.fromEntries(
    names.map((name) => {
      const text = params[name] ?? (name === 'board_id' ? boardId : undefined)
      if (text === undefined) refuse(`params.${name}`, 'is missing')
      return [name, text as string]
    }),
  )
}

function bodyOf(
  { body: schema, isBodyOptional }: Operation,
  { body = isBodyOptional ? {} : undefined }: BatchItem,
  refuse: Refuse,
): unknown {
  if (schema === undefined) {
    // As a request without a body: `{}` is one, too.
    if (body !== undefined && JSON.stringify(body) !== '{}') refuse('body', 'is not accepted by this operation')
    return undefined
  }
  const result = schema.safeParse(body)
  if (result.success) return result.data
  for (const { path, message } of issuesOf(result.error, 'body')) refuse(path === '' ? 'body' : `body.${path}`, message)
  return undefined
}

/** @param before the operations before this one */
function checkReferences(
  { operation, params, body }: Pick<PlannedOperation, 'operation' | 'params' | 'body'>,
  before: readonly BatchItem[],
  rows: readonly Operation[],
  refuse: Refuse,
): void {
  const shape = shapeOf(operation)
  const members = Object.entries((body ?? {}) as object).filter(([name]) => isIdMember(shape[name]!))
  const named = [
    ...Object.entries(params).map(([name, text]) => [`params.${name}`, text]),
    ...members.map(([name, value]) => [`body.${name}`, value]),
  ]
  for (const [path, value] of named as [string, unknown][]) {
    for (const text of [value].flat()) {
      // Stryker disable next-line ConditionalExpression: what is no text, such as null, does not match
      const at = typeof text === 'string' ? REFERENCE.exec(text)?.[1] : undefined
      if (at === undefined) continue
      const creates = rows.find(({ id }) => id === before[Number(at)]?.operation)?.status === 201
      if (!creates) refuse(path, `must refer to an earlier operation that creates something: "${text as string}" does not`)
    }
  }
}
