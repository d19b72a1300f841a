import { STATUS_CODES } from 'node:http'
import { FastResponse } from 'srvx'
import type { ApiError } from '../model/errors.ts'
import { isRecord, jsonOf } from '../store/record-json.ts'

/** Headers of every response below /v1. Responses depend on the token and must not be stored by shared caches. */
export const API_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'private, no-store',
  vary: 'Authorization',
  'x-content-type-options': 'nosniff',
} as const

/** A success: `{"data": …}`, with `page` for a list (spec §2, "Response envelope"). */
export function dataResponse(
  requestId: string,
  status: number,
  data: unknown,
  nextCursor: string | null | undefined,
  headers: Readonly<Record<string, string>>,
): Response {
  const page = nextCursor === undefined ? '' : `,"page":${JSON.stringify({ next_cursor: nextCursor })}`
  return json(requestId, status, concat('{"data":', ...dataPieces(data), `${page}}`), headers)
}

/** 304: the client's copy is current. */
export function notModifiedResponse(requestId: string, headers: Readonly<Record<string, string>>): Response {
  const { 'content-type': _type, ...shared } = API_HEADERS
  return new FastResponse(null, {
    status: 304,
    statusText: STATUS_CODES[304] ?? '',
    headers: { ...shared, 'x-request-id': requestId, ...headers },
  })
}

/** A failure: `{"error": {code, message, request_id}}` (spec §7). */
export function errorResponse(requestId: string, error: ApiError, headers: Readonly<Record<string, string>> = {}): Response {
  return json(requestId, error.status, JSON.stringify(errorBody(requestId, error)), {
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

/** The JSON of a record, or of a list of records, in pieces that are kept for each record. */
function dataPieces(data: unknown): (string | Buffer)[] {
  if (!Array.isArray(data)) return [jsonOf(data as object)]
  if (data.length === 0 || !isRecord(data[0])) return [JSON.stringify(data)]
  const pieces: (string | Buffer)[] = ['[']
  for (const [i, item] of data.entries()) pieces.push(i === 0 ? '' : ',', jsonOf(item as object))
  pieces.push(']')
  return pieces
}

/** Concatenates texts: to a text if all of them are texts, otherwise to bytes. */
function concat(...pieces: readonly (string | Buffer)[]): string | Buffer {
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('')
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
}

function json(requestId: string, status: number, body: string | Buffer, headers: Readonly<Record<string, string>>): Response {
  // With plain headers, h3 passes srvx's own response to Node without building a Headers object.
  return new FastResponse(body as string, {
    statusText: STATUS_CODES[status] ?? '',
    status,
    headers: { ...API_HEADERS, 'x-request-id': requestId, 'content-length': String(Buffer.byteLength(body)), ...headers },
  })
}
