import type { Logger } from 'pino'
import { SecretKeyError } from '../auth/secret-keys.ts'
import { ApiError } from '../model/errors.ts'
import { NotLoaded } from '../model/lazy.ts'
import { Contention, StorageUnavailable } from '../store/port.ts'

const REPEAT = 'Storage did not answer in time. It is not known whether the change was made: repeat the request with the same key.'
const UNKNOWN_OUTCOME = 'Storage did not answer in time. It is not known whether the change was made: read before you retry.'
const NO_SECRET =
  'Authenticator apps cannot be used at present: the operator has to look at the log. Use a recovery code or a passkey, or try again later.'

const NOT_LOADED =
  'This part of the service cannot be used at present: the operator has to look at the log. Nothing was changed. Try again soon.'

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
  if (error instanceof NotLoaded) {
    log.error(
      { event: 'service.not_loaded', request_id: requestId, reason: error.message, err: error.cause },
      'a part of the service is missing',
    )
    return new ApiError('unavailable', { message: NOT_LOADED, ...notDone })
  }
  if (error instanceof SecretKeyError) {
    log.error({ event: 'secrets.unusable', request_id: requestId, reason: error.message }, 'a secret cannot be used')
    return new ApiError('unavailable', { message: NO_SECRET })
  }
  log.error({ request_id: requestId, err: error }, 'unexpected error')
  return new ApiError('internal_error')
}
