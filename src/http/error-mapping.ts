import type { Logger } from 'pino'
import { SecretKeyError } from '../auth/secret-keys.ts'
import { ApiError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { Contention, StorageUnavailable } from '../store/port.ts'

const REPEAT = 'Storage did not answer in time. It is not known whether the change was made: repeat the request with the same key.'
const UNKNOWN_OUTCOME = 'Storage did not answer in time. It is not known whether the change was made: read before you retry.'
const NO_SECRET =
  'Authenticator apps cannot be used at present: the operator has to look at the log. Use a recovery code or a passkey, or try again later.'

/**
 * Converts an error to the response of a request. An unexpected error is logged here, and its response reveals nothing
 * of the inside.
 * @param isRepeatable whether the request may be sent again when its outcome is unknown, because it has an Idempotency-Key
 */
export function toApiError(log: Logger, requestId: string, error: unknown, isRepeatable = false): ApiError {
  if (error instanceof ApiError) return error
  const notDone = { headers: { 'retry-after': '1' }, members: { outcome: 'not_done' } }
  if (error instanceof Contention) return new ApiError('contention', notDone)
  if (error instanceof StorageUnavailable) {
    log.warn({ request_id: requestId, reason: error.message, err: error.cause }, 'storage unavailable')
    if (error.outcomeKnown) return new ApiError('unavailable', notDone)
    const unknown = { message: isRepeatable ? REPEAT : UNKNOWN_OUTCOME, members: { outcome: 'unknown' } }
    return new ApiError('unavailable', isRepeatable ? { ...unknown, headers: notDone.headers } : unknown)
  }
  if (error instanceof SecretKeyError) {
    log.error({ event: 'secrets.unusable', request_id: requestId, reason: error.message }, 'a secret cannot be used')
    return new ApiError('unavailable', { message: NO_SECRET })
  }
  log.error({ request_id: requestId, err: error }, 'unexpected error')
  return new ApiError('internal_error')
}

/** One member of a request that is not valid. */
export interface ValidationIssue {
  readonly in: 'query' | 'body'
  /** the member, with dots between levels; empty for the whole */
  readonly path: string
  readonly message: string
}

/** The issues of a request. More than can be listed are only counted. */
export class Issues {
  readonly #listed: ValidationIssue[] = []
  #total = 0

  /** Adds what is wrong with a member of the body, or of the query. */
  readonly refuse = (path: string, message: string, place: ValidationIssue['in'] = 'body'): void => {
    if (++this.#total <= limits.issues) this.#listed.push({ in: place, path, message })
  }

  /** @throws {ApiError} `validation_failed` */
  throwIfAny(): void {
    if (this.#total > 0) throw validationFailed(this.#listed, this.#total)
  }
}

/** Adds what is wrong with a member of the body. */
export type Refuse = (path: string, message: string) => void

/** The error of one member of the body. */
export function invalidMember(path: string, message: string): ApiError {
  return validationFailed([{ in: 'body', path, message }])
}

/**
 * The error that lists the issues, with the first one in its message.
 * @param total the number of all issues; more than can be listed are only counted
 */
export function validationFailed(all: readonly ValidationIssue[], total = all.length): ApiError {
  const issues = all.slice(0, limits.issues)
  const more = total - issues.length
  const [first] = issues
  const subject = first!.path === '' ? `the ${first!.in}` : `"${first!.path}"`
  return new ApiError('validation_failed', {
    message: `The request does not match what this operation accepts: ${subject} ${first!.message}.${more === 0 ? '' : ` There are ${more} more issues than are listed.`}`,
    members: { issues },
  })
}
