import type { ServerRequest } from 'srvx'
import type { Upload } from '../resources/operation.ts'
import type { StreamedResult } from '../resources/result.ts'
import type { PresentedToken } from './activity.ts'
import type { IdempotentWrite } from './idempotency.ts'
import type { EventStream } from './event-stream.ts'
import type { Input } from './input.ts'
import type { RequestRates } from './rate-limits.ts'
import type { LongPoll } from './waiting.ts'

/** A request below /v1, parsed as far as that needs no storage. */
export interface Incoming {
  readonly request: ServerRequest
  readonly requestId: string
  readonly method: string
  /** below /v1 */
  readonly path: string
  /** with its question mark, or empty */
  readonly search: string
}

/** Input that can be read from the connection only once, and what is counted only once. All attempts share it. */
export interface ReadOnce {
  readonly rates: RequestRates | undefined
  idempotent?: IdempotentWrite | undefined
  /** the request asks what would be answered, and changes nothing */
  isDryRun?: boolean
  input?: Input
  upload?: Promise<Upload>
  longPoll?: LongPoll
  stream?: EventStream
  /** what the stream has read together with others, before this request is decided */
  ahead?: StreamedResult | undefined
  /** the token that the last attempt has found, also if it is not accepted */
  presented?: PresentedToken | undefined
}
