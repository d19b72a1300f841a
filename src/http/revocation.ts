import { randomUUID } from 'node:crypto'
import type { ServerRequest } from 'srvx'
import { Throttle } from '../auth/accounts/throttle.ts'
import { ApiError } from '../model/errors.ts'
import { keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { endToken } from '../auth/tokens/issue.ts'
import { parseToken } from '../auth/tokens/format.ts'
import { readBody } from './body.ts'
import { clientAddress, networkOf } from './client-address.ts'
import { errorResponse, dataResponse } from './envelope.ts'
import { toApiError } from './error-mapping.ts'
import type { Services } from './services.ts'

const BODY_BYTES = 4096

/**
 * `POST /revoke`: anyone who finds a leaked token can revoke it (RFC 7009 §2.1: a form with the member `token`). The
 * response is the same whether or not the token exists (§2.2), so it reveals nothing.
 * @returns the handler of its requests; it never throws
 */
export function createRevocation(services: Services): (request: ServerRequest) => Promise<Response> {
  const throttle = new Throttle({ burst: 30, every: 2000 }, services.clock, 'revocation')
  return async (req) => {
    const requestId = randomUUID()
    try {
      if (req.method !== 'POST') throw new ApiError('method_not_allowed', { headers: { allow: 'POST' } })
      const wait = throttle.take(networkOf(clientAddress(req, services.proxies)))
      if (wait > 0) throw new ApiError('rate_limited', { headers: { 'retry-after': String(Math.ceil(wait / 1000)) } })
      await revoke(services, requestId, await readToken(req), req)
      return dataResponse(requestId, 200, ['{"received":true}'], {})
    } catch (error) {
      return errorResponse(requestId, toApiError(services.log, requestId, error))
    }
  }
}

async function readToken(request: ServerRequest): Promise<string> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', { message: 'The body must be a form: Content-Type: application/x-www-form-urlencoded.' })
  const tokens = new URLSearchParams(Buffer.from(await readBody(request, BODY_BYTES)).toString()).getAll('token')
  if (tokens.length !== 1) throw new ApiError('bad_request', { message: 'The form must have exactly one member "token".' })
  return tokens[0]!
}

async function revoke(services: Services, requestId: string, plaintext: string, request: ServerRequest): Promise<void> {
  const { store, random, clock, legacyPrefixes, log, audit, proxies } = services
  // The token may be pasted with quotes, a line break, or "Bearer " before it.
  const parsed = parseToken(/\w+_pat_\w+/.exec(plaintext)?.[0] ?? '', legacyPrefixes)
  if (parsed === undefined) return
  const { hash, workspaceId } = parsed
  const revoked = await transact(store, workspaceId, random, async (tx) => {
    const token = await tx.get(keys.token(hash))
    return token && endToken(tx, token, clock) !== token ? token : undefined
  })
  if (revoked === undefined) return
  log.warn(
    {
      event: 'token.revoked',
      request_id: requestId,
      token_id: revoked.id,
      user_id: revoked.user_id,
      workspace_id: workspaceId,
      by: 'finder',
    },
    'a leaked token was revoked',
  )
  audit?.add(workspaceId, {
    operation: 'revoke_leaked_token',
    ids: [revoked.id],
    outcome: 'done',
    status: 200,
    request_id: requestId,
    address: clientAddress(request, proxies) ?? null,
    agent: request.headers.get('user-agent'),
    subject_id: revoked.user_id,
  })
}
