import { STATUS_CODES } from 'node:http'
import { FastResponse } from 'srvx'
import type { ApiError } from '../model/errors.ts'

/** Headers of every answer below /v1. Nothing there is for a shared cache, or for another token. */
const API_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'private, no-store',
  vary: 'Authorization',
  'x-content-type-options': 'nosniff',
} as const

/** An answer: `{"data": …}`, with `page` for a list (spec §2, "Response envelope"). */
export function dataResponse(
  requestId: string,
  status: number,
  data: unknown,
  nextCursor: string | null | undefined,
  headers: Readonly<Record<string, string>>,
): Response {
  const body = nextCursor === undefined ? { data } : { data, page: { next_cursor: nextCursor } }
  return json(requestId, status, body, headers)
}

/** 304: what the client has is what there is. */
export function notModifiedResponse(requestId: string, headers: Readonly<Record<string, string>>): Response {
  const { 'content-type': _type, ...shared } = API_HEADERS
  return new FastResponse(null, {
    status: 304,
    statusText: STATUS_CODES[304] ?? '',
    headers: { ...shared, 'x-request-id': requestId, ...headers },
  })
}

/** A failure: `{"error": {code, message, request_id}}` (spec §7). */
export function errorResponse(requestId: string, fault: ApiError): Response {
  return json(requestId, fault.status, errorBody(requestId, fault), { ...challenge(fault), ...fault.details.headers })
}

/** The body of a failure. A 404 tells nothing more, whatever it was made from. */
export function errorBody(requestId: string, { code, message, details }: ApiError): { error: Record<string, unknown> } {
  const members = code === 'not_found' ? undefined : details.members
  return { error: { code, message, request_id: requestId, ...members } }
}

// Every 401 carries exactly this (spec §5, rule 1; RFC 6750 §3).
function challenge({ code }: ApiError): Record<string, string> {
  return code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
}

function json(requestId: string, status: number, body: unknown, headers: Readonly<Record<string, string>>): Response {
  const text = JSON.stringify(body)
  // Plain headers on srvx's own response: h3 hands it to Node without building a Headers object.
  return new FastResponse(text, {
    statusText: STATUS_CODES[status] ?? '',
    status,
    headers: { ...API_HEADERS, 'x-request-id': requestId, 'content-length': String(Buffer.byteLength(text)), ...headers },
  })
}
