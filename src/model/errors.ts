/**
 * The one table of errors: every way that a request can fail, with its HTTP status and default message.
 * An error without a row here cannot be thrown.
 */
export const errors = {
  bad_request: { status: 400, message: 'The request could not be read.' },
  unauthorized: { status: 401, message: 'A valid access token is required: Authorization: Bearer <ACCESS_TOKEN>.' },
  insufficient_scope: { status: 403, message: 'The token lacks the scope that this operation requires.' },
  forbidden: { status: 403, message: 'You can read this resource, but you lack the permission for this operation.' },
  not_found: { status: 404, message: 'There is no such resource.' },
  method_not_allowed: { status: 405, message: 'This path does not support that method.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time.' },
  conflict: { status: 409, message: 'The request conflicts with the current state of the resource.' },
  idempotency_key_in_use: { status: 409, message: 'A request with the same Idempotency-Key is still being handled.' },
  cursor_expired: {
    status: 410,
    message:
      'The changes after this cursor are no longer kept. Read the board anew with GET /boards/{board_id}?include=columns,cards,labels,members, and continue with its changes_cursor.',
  },
  precondition_failed: { status: 412, message: 'The resource has changed: its current ETag does not match.' },
  precondition_required: {
    status: 428,
    message: 'Only the holder of a claim may do this: send If-Claim with the epoch of the claim.',
  },
  payload_too_large: { status: 413, message: 'The body is larger than this operation accepts.' },
  unsupported_media_type: { status: 415, message: 'The body must be JSON: Content-Type: application/json.' },
  range_not_satisfiable: { status: 416, message: 'The file does not have this range.' },
  validation_failed: { status: 422, message: 'The request does not match what this operation accepts.' },
  idempotency_key_reused: { status: 422, message: 'Another request had the same Idempotency-Key. Each change needs its own.' },
  rate_limited: { status: 429, message: 'Too many requests. Try again later.' },
  headers_too_large: { status: 431, message: 'The head of the request is too large.' },
  internal_error: { status: 500, message: 'Something went wrong on our side. The error is logged under the request_id.' },
  not_implemented: { status: 501, message: 'This service does not know that method.' },
  contention: { status: 503, message: 'Other requests kept changing the same data. Nothing was changed. Try again soon.' },
  unavailable: { status: 503, message: 'Storage is not reachable. Nothing was changed. Try again soon.' },
  insufficient_storage: { status: 507, message: 'There is no room for this file. Nothing was stored.' },
} as const satisfies Record<string, { status: number; message: string }>

/** The machine-readable name of an error: `error.code` on the wire (spec §7). */
export type ErrorCode = keyof typeof errors

/** What an error carries in addition to its code and message. */
export interface ErrorDetails {
  /** replaces the default message */
  readonly message?: string
  /** further members of `error`, in snake_case */
  readonly members?: Readonly<Record<string, unknown>>
  /** further response headers, names in lower case */
  readonly headers?: Readonly<Record<string, string>>
}

/** An error that is the response to a request. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    // It is a response, and is never logged: a stack would cost more than the rest of a refusal.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(details.message ?? errors[code].message)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.details = details
  }

  get status(): number {
    return errors[this.code].status
  }
}

/**
 * 404: the resource is absent, in another workspace, or hidden from the caller. The response is the same (spec §5, rule 3).
 * @param parameter what names the resource in the body, or behind the first id of the path; undefined: the path itself
 */
export function notFound(parameter?: string): ApiError {
  if (parameter === undefined) return new ApiError('not_found')
  return new ApiError('not_found', { message: `"${parameter}" names no resource that can be used here.`, members: { parameter } })
}

/** 409: the current state does not allow the operation, whatever the caller's permissions. */
export function conflict(message: string, members?: Readonly<Record<string, unknown>>): ApiError {
  return new ApiError('conflict', members === undefined ? { message } : { message, members })
}
