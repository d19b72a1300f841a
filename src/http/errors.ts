import type { Logger } from 'pino'
import { Failure } from '../model/errors.ts'
import { Unavailable } from '../store/port.ts'

const UNCERTAIN = 'Storage did not answer in time. It is not known whether this was done: read before you try it again.'

/** What a request is told of an error. What nobody foresaw is logged here and tells nothing of the inside. */
export function toFailure(log: Logger, requestId: string, error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof Unavailable) {
    log.warn({ request_id: requestId, reason: error.message, err: error.cause }, 'storage unavailable')
    const headers = { 'retry-after': '1' }
    return new Failure('unavailable', error.certain ? { headers } : { headers, message: UNCERTAIN })
  }
  log.error({ request_id: requestId, err: error }, 'unexpected error')
  return new Failure('internal_error')
}
