import type { Logger } from 'pino'
import { ApiError } from '../model/errors.ts'
import { StorageUnavailable } from '../store/port.ts'

const UNCERTAIN = 'Storage did not answer in time. It is not known whether this was done: read before you try it again.'

/** What a request is told of an error. What nobody foresaw is logged here and tells nothing of the inside. */
export function toApiError(log: Logger, requestId: string, error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StorageUnavailable) {
    log.warn({ request_id: requestId, reason: error.message, err: error.cause }, 'storage unavailable')
    const headers = { 'retry-after': '1' }
    return new ApiError('unavailable', error.outcomeKnown ? { headers } : { headers, message: UNCERTAIN })
  }
  log.error({ request_id: requestId, err: error }, 'unexpected error')
  return new ApiError('internal_error')
}
