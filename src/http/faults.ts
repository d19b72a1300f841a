import type { Logger } from 'pino'
import { Failure } from '../model/failure.ts'
import { Unavailable } from '../store/port.ts'

/** What a request is told of an error. What nobody foresaw is logged here and tells nothing of the inside. */
export function toFailure(log: Logger, requestId: string, error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof Unavailable) {
    log.warn({ request_id: requestId, reason: error.message }, 'storage unavailable')
    return new Failure('unavailable', { headers: { 'retry-after': '1' } })
  }
  log.error({ request_id: requestId, err: error }, 'unexpected error')
  return new Failure('internal_error')
}
