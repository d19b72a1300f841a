import type { CallToolResult } from '@modelcontextprotocol/server'
import { errorBody } from '../http/envelope.ts'
import type { ApiError } from '../model/errors.ts'
import { adviceFor } from './advice.ts'
import type { ApiAnswer } from './exchange.ts'

/** The result of a call: the answer of the API, with what its headers say. */
export function toResult({ status, headers, body }: ApiAnswer): CallToolResult {
  if (status >= 400) return failedResult(body.error ?? {}, headers)
  const etag = headers.get('etag')
  return resultOf({
    ...body,
    ...(etag === null ? {} : { etag }),
    ...(headers.has('dry-run') ? { dry_run: true } : {}),
    ...(headers.has('idempotent-replayed') ? { idempotent_replayed: true } : {}),
  })
}

/** The result of a call that no request was made of. */
export function refusedResult(requestId: string, error: ApiError): CallToolResult {
  return failedResult(errorBody(requestId, error).error, new Headers(error.details.headers))
}

function failedResult(error: Readonly<Record<string, unknown>>, headers: Headers): CallToolResult {
  return { ...resultOf({ error: describeError(error, headers) }), isError: true }
}

/** An error of the API with what to do next. */
export function describeError(error: Readonly<Record<string, unknown>>, headers: Headers): Record<string, unknown> {
  const next = adviceFor(error)
  const retryAfter = headers.get('retry-after')
  return {
    ...error,
    ...(retryAfter === null ? {} : { retry_after: Number(retryAfter) }),
    ...(next === undefined ? {} : { next }),
  }
}

/** Clients that do not read structured content get the same as text. */
function resultOf(content: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content }
}
