/**
 * Every way in which a request can fail, and the HTTP status that it has. This is the one table of errors:
 * a failure without a row here cannot be thrown.
 */
export const errors = {
  bad_request: { status: 400, message: 'The request could not be read.' },
  unauthorized: { status: 401, message: 'A valid access token is required: Authorization: Bearer <ACCESS_TOKEN>.' },
  insufficient_scope: { status: 403, message: 'The token lacks the scope that this operation requires.' },
  forbidden: { status: 403, message: 'You may see this, but you may not do that to it.' },
  not_found: { status: 404, message: 'There is no such resource.' },
  method_not_allowed: { status: 405, message: 'This path does not support that method.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time.' },
  conflict: { status: 409, message: 'The request does not fit the present state of the resource.' },
  precondition_failed: { status: 412, message: 'The resource has changed since: its ETag is another one now.' },
  payload_too_large: { status: 413, message: 'The body is larger than this operation takes.' },
  unsupported_media_type: { status: 415, message: 'The body must be JSON: Content-Type: application/json.' },
  range_not_satisfiable: { status: 416, message: 'The file has no such range.' },
  validation_failed: { status: 422, message: 'The request does not fit what this operation takes.' },
  rate_limited: { status: 429, message: 'Too many requests. Try again later.' },
  headers_too_large: { status: 431, message: 'The head of the request is too large.' },
  internal_error: { status: 500, message: 'Something went wrong here. It has been recorded under the request_id.' },
  unavailable: { status: 503, message: 'Storage cannot be reached now. Nothing was changed. Try again soon.' },
} as const satisfies Record<string, { status: number; message: string }>

/** The machine-readable name of a failure: `error.code` on the wire (spec §7). */
export type ErrorCode = keyof typeof errors

/** What a failure may tell beyond its code and message. */
export interface ErrorDetails {
  /** replaces the message of the table */
  readonly message?: string
  /** further members of `error`, in snake_case; never on a 404 */
  readonly members?: Readonly<Record<string, unknown>>
  /** further headers of the response, names in lower case */
  readonly headers?: Readonly<Record<string, string>>
}

/** A failure that is the answer to a request. */
export class ApiError extends Error {
  override readonly name = 'Failure'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.message ?? errors[code].message)
    this.code = code
    this.details = details
  }

  get status(): number {
    return errors[this.code].status
  }
}

/** Absent, of another workspace, or private to the caller: one answer for all three (spec §5, rule 3). */
export function notFound(): ApiError {
  return new ApiError('not_found')
}

/** The state of things does not allow it, whoever asks (409). */
export function conflict(message: string, members?: Readonly<Record<string, unknown>>): ApiError {
  return new ApiError('conflict', members === undefined ? { message } : { message, members })
}
