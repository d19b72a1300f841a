import type { ApiError } from '../model/errors.ts'
import { CompressibleResponse, HttpResponse } from './compression.ts'
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
  const all = withApiHeaders(headers, 'content-type')
  all.push(['x-request-id', requestId])
  return new HttpResponse(null, { status: 304, headers: all })
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
function challenge({ code }: ApiError): Record<string, string> {
  return code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
}

/** A response with a body that is JSON. */
export function jsonResponse(
  requestId: string,
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
): Response {
  const all = withApiHeaders(headers)
  all.push(['x-request-id', requestId], ['content-length', String(Buffer.byteLength(body))])
  // With plain headers, h3 passes srvx's own response to Node without building a Headers object.
  return new CompressibleResponse(body, { status, headers: all })
}

/** The names and values of {@link API_HEADERS}. */
const API_PAIRS = Object.entries(API_HEADERS)

/**
 * The headers of a response: those of every response, except the ones that are given. As a list, because V8 takes 8 µs to spread the
 * headers of a response into an object.
 */
function withApiHeaders(given: Readonly<Record<string, string>>, left?: string): [name: string, value: string][] {
  const all: [string, string][] = []
  for (const pair of API_PAIRS) if (pair[0] !== left && given[pair[0]] === undefined) all.push(pair)
  for (const name in given) all.push([name, given[name]!])
  return all
}
