import type { ApiError } from '../model/errors.ts'
import { CompressibleResponse, HttpResponse, pairsOf } from './compression.ts'
import { bodyOf, type Pieces } from './json-body.ts'

/** Headers of every response below /v1. Responses depend on the token and must not be stored by shared caches. */
export const API_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'private, no-store',
  vary: 'Authorization, Accept-Encoding',
  'x-content-type-options': 'nosniff',
} as const

/** A success: `{"data": …}` (spec §2, "Response envelope"). */
export function dataResponse(requestId: string, status: number, data: Pieces, headers: Readonly<Record<string, string>>): Response {
  return jsonResponse(requestId, status, bodyOf(data, undefined), headers)
}

/** 304: the client's copy is current. */
export function notModifiedResponse(requestId: string, headers: Readonly<Record<string, string>>): Response {
  return new HttpResponse(null, { status: 304, headers: pairsOf(withApiHeaders(requestId, headers, 'content-type')) })
}

/** A failure: `{"error": {code, message, request_id}}` (spec §7). */
export function errorResponse(requestId: string, error: ApiError, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonResponse(requestId, error.status, JSON.stringify(errorBody(requestId, error)), {
    ...headers,
    ...challenge(error),
    ...error.details.headers,
  })
}

/** The body of a failure. */
export function errorBody(requestId: string, { code, message, details }: ApiError): { error: Record<string, unknown> } {
  return { error: { code, message, request_id: requestId, ...details.members } }
}

// Every 401 has exactly this header (spec §5, rule 1; RFC 6750 §3).
export function challenge({ code }: ApiError): Record<string, string> {
  return code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
}

/** A response with a body that is JSON. */
export function jsonResponse(
  requestId: string,
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
): Response {
  const all = withApiHeaders(requestId, headers)
  all.push('content-length', String(Buffer.byteLength(body)))
  return new CompressibleResponse(body, status, all)
}

/** The names and values of {@link API_HEADERS}. */
const API_PAIRS = Object.entries(API_HEADERS)

/**
 * The headers of a response: the headers of every response, except the given ones. As a list, because V8 takes 8 µs to spread the
 * headers of a response into an object.
 */
function withApiHeaders(requestId: string, given: Readonly<Record<string, string>>, left?: string): string[] {
  const all = ['x-request-id', requestId]
  for (const [name, value] of API_PAIRS) if (name !== left && given[name] === undefined) all.push(name, value)
  for (const name in given) all.push(name, given[name]!)
  return all
}
