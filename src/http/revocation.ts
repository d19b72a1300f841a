import { randomUUID } from 'node:crypto'
import type { H3 } from 'h3'
import type { ServerRequest } from 'srvx'
import { Throttle } from '../auth/accounts/throttle.ts'
import { ApiError } from '../model/errors.ts'
import { keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { endToken } from '../auth/tokens/issue.ts'
import { parseToken } from '../auth/tokens/secret.ts'
import { readBody } from './body.ts'
import { errorResponse, dataResponse } from './envelope.ts'
import { toApiError } from './errors.ts'
import type { Services } from './services.ts'

const BODY_BYTES = 4096

/**
 * `POST /revoke`: whoever has found a token can end it by presenting it, as RFC 7009 §2.1 has it (a form with the
 * member `token`). The answer is the same whether there was such a token (§2.2), so it tells nothing.
 * @param networkOf what is throttled as one
 */
export function serveRevocation(h3: H3, services: Services, networkOf: (request: ServerRequest) => string): void {
  const throttle = new Throttle({ burst: 30, every: 2000 }, services.clock)
  h3.all('/revoke', async ({ req }) => {
    const requestId = randomUUID()
    try {
      if (req.method !== 'POST') throw new ApiError('method_not_allowed', { headers: { allow: 'POST' } })
      const wait = throttle.take(networkOf(req))
      if (wait > 0) throw new ApiError('rate_limited', { headers: { 'retry-after': String(Math.ceil(wait / 1000)) } })
      await revoke(services, requestId, await readToken(req))
      return dataResponse(requestId, 200, { received: true }, undefined, {})
    } catch (error) {
      return errorResponse(requestId, toApiError(services.log, requestId, error))
    }
  })
}

async function readToken(request: ServerRequest): Promise<string> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', { message: 'The body must be a form: Content-Type: application/x-www-form-urlencoded.' })
  const tokens = new URLSearchParams(Buffer.from(await readBody(request, BODY_BYTES)).toString()).getAll('token')
  if (tokens.length !== 1) throw new ApiError('bad_request', { message: 'The form must have one member "token".' })
  return tokens[0]!
}

async function revoke({ store, random, clock, legacyPrefixes, log }: Services, requestId: string, plaintext: string): Promise<void> {
  // As it was found: with a line break, in quotes, behind "Bearer ".
  const parsed = parseToken(/\w+_pat_\w+/.exec(plaintext)?.[0] ?? '', legacyPrefixes)
  if (parsed === undefined) return
  const { hash, workspaceId } = parsed
  const ended = await transact(store, workspaceId, random, async (tx) => {
    const token = await tx.get(keys.token(hash))
    return token && endToken(tx, token, 'revoke', clock) !== token ? token : undefined
  })
  if (ended !== undefined)
    log.warn(
      {
        event: 'token.revoked',
        request_id: requestId,
        token_id: ended.id,
        user_id: ended.user_id,
        workspace_id: workspaceId,
        by: 'finder',
      },
      'a leaked token was revoked',
    )
}
