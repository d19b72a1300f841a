import type { CallToolResult } from '@modelcontextprotocol/server'
import { errorBody } from '../http/envelope.ts'
import type { ApiError, ErrorCode } from '../model/errors.ts'
import type { ApiAnswer, Exchange } from './exchange.ts'

/** What a client should do about each error. */
const advice: Partial<Record<ErrorCode, string>> = {
  bad_request: 'Correct the arguments.',
  unauthorized:
    'Without a token, or with one that expired or was revoked, nothing works. The user can create one in the web app, at /settings.',
  not_found:
    'Take the id from a list; a name is no id. Boards, columns and labels: read_boards; cards: find_cards; people: read_account_and_members. What you have no access to is answered like what does not exist.',
  conflict: 'Read the resource again, and follow the message. Another agent may be working on it.',
  idempotency_key_in_use: 'Wait for the first request, and repeat it with the same key.',
  cursor_expired: 'Read the board again: boards.read with include=["columns","cards","labels"]. Go on with its changes_cursor as `after`.',
  precondition_required: 'Send the `epoch` of your claim as if_claim.',
  payload_too_large: 'Send less at once.',
  idempotency_key_reused: 'Use a new idempotency_key for each change.',
  rate_limited: 'Wait `retry_after` seconds.',
  internal_error: 'Do not repeat it. Give the request_id to the operator of the service.',
  contention: 'Repeat the call after `retry_after` seconds.',
}

const LOST =
  'Nothing was changed. You do not hold this card any more, and another agent may be working on it: stop working on it, and take another one with claim_next_card.'

function invalid(issues: readonly { readonly path: string }[] = []): string {
  const correct = 'Correct the arguments that `issues` names.'
  if (!issues.some(({ path }) => /^operations\.\d+\.(?!params|body)/.test(path))) return correct
  return `${correct} An item of operations is like {"operation":"cards.move","params":{"card_id":"…"},"body":{"column_id":"…"}}: params has the ids of what it changes, body all other arguments, and operation is the id of a write, not the name of a tool.`
}

/**
 * An agent that repeats its write with the new ETag would overwrite what another one has just done, so the advice names no way to get the write
 * through: it says what has changed, and leaves the change to a new decision.
 */
function changed({ current_etag: etag, current }: Readonly<Record<string, unknown>>): string {
  const { id, updated_at: at } = (current ?? {}) as Readonly<Record<string, unknown>>
  const unknown = etag === undefined ? 'The ETag in if_match is not current' : 'This has changed since you read it'
  const what = typeof id === 'string' && typeof at === 'string' ? `${id} has changed since you read it, last at ${at}` : unknown
  const now = current === undefined ? 'Read it again' : '`current` is what it is now: compare it with what you read'
  return `Nothing was changed. ${what}, by an earlier call of yours or because another agent may be working on it. ${now}; read_changes says who did what. Do not replace what others have done. Make your change only if it still makes sense beside theirs, from what is there now. If you are not sure, leave it and ask, for example in a comment.`
}

/**
 * What to do about an error.
 * @param error the error of an API response
 */
function adviceFor(error: Readonly<Record<string, unknown>>): string | undefined {
  switch (error['code']) {
    case 'insufficient_scope':
      return `Use a token with the scope ${String(error['required_scope'])}. The user can create one in the web app, at /settings.`
    case 'precondition_failed':
      return error['current_claim'] === undefined ? changed(error) : LOST
    case 'validation_failed':
      return invalid(error['issues'] as readonly { readonly path: string }[] | undefined)
    case 'forbidden':
      return error['row'] === undefined ? undefined : 'Do not repeat it: `reason` says who can do this.'
    case 'unavailable':
      if (error['outcome'] !== 'unknown') return 'Nothing was changed. Repeat the call after `retry_after` seconds.'
      return 'The change may have been made. Repeat the call only with the same idempotency_key; if it had none, read first.'
    default:
      return advice[error['code'] as ErrorCode]
  }
}

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
  if (!exchange.takesStructured) return { content: [{ type: 'text', text: json.toString() }] }
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
