import { errors, type ErrorCode } from '../../model/errors.ts'
import type { Engine } from '../../policy/engine.ts'
import { cells } from '../../policy/enumerate.ts'
import type { Operation } from '../../resources/operation.ts'

/** What can happen to each request: before the operation is known, or because of the storage or the limits. */
const ALWAYS: readonly ErrorCode[] = [
  'bad_request',
  'unauthorized',
  'insufficient_scope',
  'request_timeout',
  'precondition_failed',
  'validation_failed',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'contention',
  'unavailable',
]
/** What only a request whose body is read can get. */
const WITH_BODY: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type']

/** What only a write can get. */
const OF_WRITES: readonly ErrorCode[] = ['idempotency_key_in_use', 'idempotency_key_reused']

/** The codes of all errors that an operation can answer, in the order of the table of errors. */
export function errorCodesOf(forbiddable: ForbiddablePermissions, operation: Operation): readonly ErrorCode[] {
  const { method, path, conflicts, codes: codesOfRow, requiresClaim } = operation
  const codes = new Set<ErrorCode>([
    ...ALWAYS,
    ...(canForbid(forbiddable, operation) ? ['forbidden' as const] : []),
    ...(path.includes('{') || namesResources(operation) ? ['not_found' as const] : []),
    ...(conflicts.length > 0 ? ['conflict' as const] : []),
    ...(method === 'GET' || method === 'DELETE' ? [] : WITH_BODY),
    ...(operation.isRead ? [] : OF_WRITES),
    ...(requiresClaim ? ['precondition_required' as const] : []),
    ...codesOfRow,
    ...(isDownload(operation) ? ['range_not_satisfiable' as const] : []),
  ])
  return (Object.keys(errors) as ErrorCode[]).filter((code) => codes.has(code))
}

/** Whether the query can name something that is absent. */
function namesResources(operation: Operation): boolean {
  return operation.kind === 'filtered_list' && operation.named !== undefined
}

/** Whether the response is the bytes of a file. */
export function isDownload({ data, isStream }: Operation): boolean {
  return !isStream && data.def.type === 'undefined'
}

/** Whether the response has `data`: neither the bytes of a file nor a stream of events has it. */
export function hasData({ data }: Operation): boolean {
  return data.def.type !== 'undefined'
}

/** The permissions that the policy can forbid; those that are decided by field with a space and each such field. */
export type ForbiddablePermissions = ReadonlySet<string>

/** Examines the whole decision space. A former member gets 401 before. */
export function findForbiddable({ vocabulary, decide }: Engine): ForbiddablePermissions {
  const found = new Set<string>()
  for (const { permission, facts, field, fields } of cells(vocabulary)) {
    const name = field === undefined ? permission.id : `${permission.id} ${field}`
    if (facts['caller.membership'] === 'ended' || found.has(name)) continue
    if (decide(permission.id, facts, fields).outcome === 'forbidden') found.add(name)
  }
  return found
}

function canForbid(forbiddable: ForbiddablePermissions, operation: Operation): boolean {
  if (operation.kind === 'filtered_list') return false
  const id = operation.permission
  if (operation.also.some(({ permission }) => forbiddable.has(permission))) return true
  // A member that the body does not have is refused before.
  return forbiddable.has(id) || bodyMembers(operation).some((member) => forbiddable.has(`${id} ${member}`))
}

function bodyMembers({ body }: Operation): readonly string[] {
  return body?.def.type === 'object' ? Object.keys((body.def as unknown as { shape: object }).shape) : []
}

/** Groups codes by their status, in ascending order. */
export function byStatus(codes: readonly ErrorCode[]): Map<number, readonly ErrorCode[]> {
  const statuses = [...new Set(codes.map((code) => errors[code].status as number))].toSorted((a, b) => a - b)
  return new Map(statuses.map((status) => [status, codes.filter((code) => errors[code].status === status)]))
}
