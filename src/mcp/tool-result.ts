import type { CallToolResult } from '@modelcontextprotocol/server'
import { errorBody } from '../http/envelope.ts'
import type { ApiError } from '../model/errors.ts'
import { adviceFor } from './advice.ts'
import type { ApiAnswer, Exchange } from './exchange.ts'

/** The length from which an answer is long, in bytes. */
const LONG = 64 * 1024

/** The result of a call: the answer of the API, with what its headers say. */
export function toResult(exchange: Exchange, answer: ApiAnswer): CallToolResult {
  const { status, headers, content } = answer
  if (status >= 400) return failedResult(answer.body.error ?? {}, headers)
  const etag = headers.get('etag')
  const more = {
    ...(etag === null ? {} : { etag }),
    ...(headers.has('dry-run') ? { dry_run: true } : {}),
    ...(headers.has('idempotent-replayed') ? { idempotent_replayed: true } : {}),
  }
  if (content.length <= LONG) return resultOf({ ...answer.body, ...more })
  const further = Object.entries(more).map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
  return longResult(exchange, Buffer.concat([Buffer.from(content.slice(0, -1) as string), Buffer.from(`${further.join('')}}`)]))
}

/** A long answer is not sent twice: as text only to clients that know no structured content. */
function longResult(exchange: Exchange, json: Buffer): CallToolResult {
  if (!exchange.takesStructured) return { content: [{ type: 'text', text: exchange.insertText(json.toString()) }] }
  const text = `The answer has ${Math.round(json.length / 1024)} KiB and is in structuredContent. To read less, use fields or a smaller limit.`
  return { content: [{ type: 'text', text }], structuredContent: exchange.insertObject(json) }
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
