import type { CallToolResult } from '@modelcontextprotocol/server'
import { errorBody } from '../http/envelope.ts'
import type { ApiError, ErrorCode } from '../model/errors.ts'
import type { ApiAnswer } from './exchange.ts'
import { fit, type Content, type Expected } from './fitting-answer.ts'

const WHERE_IDS_ARE =
  'Take the id from a list; a name is no id. Boards, columns and labels: read_boards; cards: find_cards; people: read_account_and_members.'

/** What a client should do about each error. */
const advice: Partial<Record<ErrorCode, string>> = {
  bad_request: 'Correct the arguments.',
  not_found: `${WHERE_IDS_ARE} What you have no access to is answered like what does not exist.`,
  conflict: 'Read the resource again, and follow the message. Another agent may be working on it.',
  idempotency_key_in_use: 'Wait for the first request, and repeat it with the same key.',
  cursor_expired: 'Read the board again: boards.read with include=["columns","cards","labels"]. Go on with its changes_cursor as `after`.',
  precondition_required: 'Send the `epoch` of your claim as if_claim.',
  payload_too_large: 'Send less at once.',
  insufficient_storage: 'Tell your person that files must be detached first.',
  idempotency_key_reused: 'Use a new idempotency_key for each change.',
  rate_limited: 'Wait `retry_after` seconds.',
  internal_error: 'Do not repeat it. Give the request_id to the operator of the service.',
  contention: 'Repeat the call after `retry_after` seconds.',
}

const LOST =
  'Nothing was changed. You do not hold this card any more, and another agent may be working on it: stop working on it, and take another one with claim_next_card.'

const ABOUT_ITEMS =
  'An item of operations is like {"operation":"cards.move","card_id":"…","column_id":"…"}: operation is the id of a write, not the name of a tool, and its arguments stand beside it.'
/** An error has no further parts to read. */
const NOTHING_KNOWN: Expected = { isList: false, hasParts: false, hasFields: false, offset: undefined, wholeIn: 'Its read' }

function invalid(issues: readonly { readonly path: string; readonly message: string }[] = []): string {
  const correct = 'Correct the arguments that `issues` names.'
  const about = [
    ...(issues.some(({ path }) => /^operations\.\d+/.test(path)) ? [ABOUT_ITEMS] : []),
    ...(issues.some(({ message }) => message.startsWith('is not the id of')) ? [WHERE_IDS_ARE] : []),
  ]
  return [correct, ...about].join(' ')
}

/**
 * An agent that repeats its write with the new ETag would overwrite what another one has just done, so the advice names no way to get the
 * write through: it says what has changed, and leaves the change to a new decision.
 */
function changed({ current_etag: etag, current }: Readonly<Record<string, unknown>>): string {
  const { id, updated_at: at } = (current ?? {}) as Readonly<Record<string, unknown>>
  const unknown = etag === undefined ? 'The ETag in if_match is not current' : 'This has changed since you read it'
  const what = typeof id === 'string' && typeof at === 'string' ? `${id} has changed since you read it, last at ${at}` : unknown
  const now = current === undefined ? 'Read it again' : '`current` is its present state: compare it with what you read'
  return `Nothing was changed. ${what}, by an earlier call of yours or because another agent may be working on it. ${now}; read_changes says who did what. Do not replace what others have done. Make your change only if it still makes sense beside theirs, from what is there now. If you are not sure, leave it and ask, for example in a comment.`
}

/**
 * What to do about an error.
 * @param error the error of an API response
 */
function adviceFor(error: Readonly<Record<string, unknown>>, base: string): string | undefined {
  switch (error['code']) {
    case 'unauthorized':
      return `Without a token, or with one that expired or was revoked, nothing works. The user can create one in the web app, at ${base}/settings.`
    case 'insufficient_scope':
      return `Use a token with the scope ${String(error['required_scope'])}. The user can create one in the settings of the web app.`
    case 'precondition_failed':
      return error['current_claim'] === undefined ? changed(error) : LOST
    case 'validation_failed':
      return invalid(error['issues'] as readonly { readonly path: string; readonly message: string }[] | undefined)
    case 'forbidden':
      return error['row'] === undefined ? undefined : 'Do not repeat it: `reason` says who can do this.'
    case 'unavailable':
      if (error['outcome'] !== 'unknown') return 'Nothing was changed. Repeat the call after `retry_after` seconds.'
      return 'The change may have been made. Repeat the call only with the same idempotency_key; if it had none, read first.'
    default:
      return advice[error['code'] as ErrorCode]
  }
}

/**
 * The result of a call: the answer of the API, including facts from its headers.
 * @param further members of the result; of the error, if it is one
 */
export function toResult({ status, headers, body }: ApiAnswer, expected: Expected, further: Content = {}): CallToolResult {
  if (status >= 400) return failedResult({ ...body.error, ...further }, headers)
  const etag = headers.get('etag')
  const content = {
    ...body,
    ...(etag === null ? {} : { etag }),
    ...(headers.has('dry-run') ? { dry_run: true } : {}),
    ...(headers.has('idempotent-replayed') ? { idempotent_replayed: true } : {}),
    ...further,
  }
  return resultOf(fit(content, expected))
}

/** The result of a call that no request was made of. */
export function refusedResult(requestId: string, error: ApiError): CallToolResult {
  return failedResult(errorBody(requestId, error).error, new Headers(error.details.headers))
}

function failedResult(error: Readonly<Record<string, unknown>>, headers: Headers): CallToolResult {
  return { ...resultOf(fit({ error: describeError(error, headers) }, NOTHING_KNOWN)), isError: true }
}

/**
 * An error of the API with what to do next.
 * @param base the path below which the service is
 */
export function describeError(error: Readonly<Record<string, unknown>>, headers: Headers, base = ''): Record<string, unknown> {
  const next = adviceFor(error, base)
  const retryAfter = headers.get('retry-after')
  return {
    ...error,
    ...(retryAfter === null ? {} : { retry_after: Number(retryAfter) }),
    ...(next === undefined ? {} : { next }),
  }
}

/** The text has the whole content: many clients pass on only that to a model. */
function resultOf({ content, text }: { readonly content: Content; readonly text: string }): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent: content }
}
