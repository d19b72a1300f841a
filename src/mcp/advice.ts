import type { ErrorCode } from '../model/errors.ts'

/** What a client should do about each error. */
const advice: Partial<Record<ErrorCode, string>> = {
  bad_request: 'Correct the arguments.',
  unauthorized:
    'Without a token, or with one that expired or was revoked, nothing works. The user can create one in the web app, at /settings.',
  not_found: 'Check the id with a list. What you have no access to is answered like what does not exist.',
  conflict: 'Read the resource again, and follow the message.',
  idempotency_key_in_use: 'Wait for the first request, and repeat it with the same key.',
  precondition_failed: 'Read the resource again, apply your change to what it is now, and send the `etag` of that answer as if_match.',
  payload_too_large: 'Send less at once.',
  validation_failed: 'Correct the arguments that `issues` names.',
  idempotency_key_reused: 'Use a new idempotency_key for each change.',
  rate_limited: 'Wait `retry_after` seconds.',
  internal_error: 'Do not repeat it. Give the request_id to the operator of the service.',
  contention: 'Repeat the call after `retry_after` seconds.',
}

/**
 * What to do about an error.
 * @param error the error of an API response
 */
export function adviceFor(error: Readonly<Record<string, unknown>>): string | undefined {
  switch (error['code']) {
    case 'insufficient_scope':
      return `Use a token with the scope ${String(error['required_scope'])}. The user can create one in the web app, at /settings.`
    case 'forbidden':
      return error['row'] === undefined ? undefined : 'Do not repeat it: `reason` says who can do this.'
    case 'unavailable':
      if (error['outcome'] !== 'unknown') return 'Nothing was changed. Repeat the call after `retry_after` seconds.'
      return 'The change may have been made. Repeat the call only with the same idempotency_key; if it had none, read first.'
    default:
      return advice[error['code'] as ErrorCode]
  }
}
