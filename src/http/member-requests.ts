import { randomUUID } from 'node:crypto'
import type { SendRequest } from '../admin/deps.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { Call, type CallRequest, type Surface } from './call.ts'
import { conclude } from './pipeline.ts'
import { SessionPrincipal } from './principal.ts'
import type { Services } from './services.ts'

/** The User-Agent of requests of operators: the audit trail tells them from the member's own by it. */
export const OPERATOR_AGENT = 'lanekeeper, by its operator'

/** Where requests as a member come from. */
interface Origin extends Pick<CallRequest, 'lent'> {
  readonly surface: Exclude<Surface['name'], undefined>
  readonly headers: Readonly<Record<string, string>>
  /** the address of the client, if there is one */
  readonly ip?: string | undefined
}

/**
 * Makes requests of operators, as members. Each is decided and recorded like one of the member, without a token and without rate limits.
 */
export function requestsOfOperators(services: () => Services): {
  readonly sendAs: (workspaceId: string, userId: string) => SendRequest
  readonly uploadLimit: () => number
} {
  const origin: Origin = { surface: 'operator', headers: { 'user-agent': OPERATOR_AGENT } }
  return {
    sendAs: (workspaceId, userId) => requestsOfImport(services, workspaceId, userId, origin),
    uploadLimit: () => services().uploadBytes,
  }
}

/**
 * Makes the requests that bring something from elsewhere, as a member: nobody gets a notice of them, and lists by time keep their order.
 * No rate limit counts them.
 */
export function requestsOfImport(services: () => Services, workspaceId: string, userId: string, origin: Origin): SendRequest {
  const identify = () => new SessionPrincipal(userId, workspaceId, { isQuiet: true })
  const surface: Surface = { name: origin.surface, isCounted: true, identify }
  let earliest = 0
  return async (method, path, body) => {
    const current = services()
    // Lists are ordered by time, and a batch gives each thing that it creates a later one than that before.
    const clock = () => Math.max(current.clock(), earliest)
    const isForm = body instanceof FormData
    // A form states its own type, with its boundary.
    const headers = { ...origin.headers, ...(!isForm && { 'content-type': 'application/json' }) }
    const text = isForm ? body : body === undefined ? null : JSON.stringify(body)
    const request = Object.assign(new Request(`http://localhost/v1${path}`, { method, headers, body: text }), { ip: origin.ip })
    const call = new Call({ ...current, clock }, { request, requestId: randomUUID(), method, path, search: '', lent: origin.lent }, surface)
    const result = await conclude<{ readonly status: number; readonly data: unknown }>({ ...current, clock }, call, {
      answer: (answer) => ({ status: answer.operation.status, data: answer.kind === 'done' ? answer.data : undefined }),
      refuse: (error) => ({ status: error.status, data: error }),
    })
    earliest = clock() + limits.batchOperations
    if (result.data instanceof ApiError) throw result.data
    return result.data
  }
}
