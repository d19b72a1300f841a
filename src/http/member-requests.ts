import { randomUUID } from 'node:crypto'
import type { AdminDeps } from '../admin/deps.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { Call, type Surface } from './call.ts'
import { conclude } from './pipeline.ts'
import { SessionPrincipal } from './principal.ts'
import type { Services } from './services.ts'

/** The User-Agent of these requests: the audit trail tells them from the member's own by it. */
export const OPERATOR_AGENT = 'lanekeeper, by its operator'

/**
 * Makes requests of operators, as members. Each is decided and recorded like one of the member, without a token and without rate limits.
 */
export function requestsOfOperators(services: () => Services): NonNullable<AdminDeps['sendAs']> {
  return (workspaceId, userId) => {
    const surface: Surface = { name: 'operator', isCounted: true, identify: () => new SessionPrincipal(userId, workspaceId) }
    let earliest = 0
    return async (method, path, body) => {
      const current = services()
      // Lists are ordered by time, and a batch gives each thing that it creates a later one than that before.
      const clock = () => Math.max(current.clock(), earliest)
      const isForm = body instanceof FormData
      // A form states its own type, with its boundary.
      const headers = { 'user-agent': OPERATOR_AGENT, ...(!isForm && { 'content-type': 'application/json' }) }
      const text = isForm ? body : body === undefined ? null : JSON.stringify(body)
      const request = new Request(`http://localhost/v1${path}`, { method, headers, body: text })
      const call = new Call({ ...current, clock }, { request, requestId: randomUUID(), method, path, search: '' }, surface)
      const result = await conclude<{ readonly status: number; readonly data: unknown }>({ ...current, clock }, call, {
        answer: (answer) => ({ status: answer.operation.status, data: answer.kind === 'done' ? answer.data : undefined }),
        refuse: (error) => ({ status: error.status, data: error }),
      })
      earliest = clock() + limits.batchOperations
      if (result.data instanceof ApiError) throw result.data
      return result.data
    }
  }
}
