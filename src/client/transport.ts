import { ApiError, NoResponse, type ErrorCode } from './errors.ts'
import { toRequest, type Input } from './input.ts'
import type { NotModified, OperationRow, Page, ReadOptions, Result, WriteOptions } from './methods.ts'
import type { Retry } from './changes.ts'
import { readRetryAfter, waitBefore, waitOfStream, type Failure, type RetryPolicy } from './retries.ts'

/** What a client works with. */
export interface TransportOptions {
  /** with /v1, without a slash at the end */
  readonly base: string
  readonly token: string
  /** default: the global one */
  readonly fetch: typeof globalThis.fetch
  /** milliseconds within which each attempt must be answered; default 30,000. A long poll has its `wait` in addition. */
  readonly timeout: number
  readonly retries: RetryPolicy
  /** numbers from 0 to 1, for the waits between attempts */
  readonly random: () => number
  /** the time in milliseconds, to read a date in `Retry-After` */
  readonly now: () => number
  /** creates the idempotency key of a write */
  readonly newKey: () => string
  readonly timers: Timers
}

/** The timers of a client. */
export interface Timers {
  setTimeout(callback: () => void, milliseconds: number): unknown
  clearTimeout(timer: any): void
}

/** What the options of reads and writes have. */
export type Options = ReadOptions & WriteOptions

/** An attempt without a result. */
interface FailedAttempt {
  readonly failure: Failure
  readonly toError: (attempts: number) => ApiError | NoResponse
}

/** How the attempts of a call follow each other. */
export interface Repeating {
  /** @returns how long to wait before the next attempt, in milliseconds; undefined: no further attempt */
  readonly waitBefore: (failure: Failure, attempt: number, random: () => number) => number | undefined
  readonly onRetry?: ((retry: Retry) => void) | undefined
}

/** A call that goes on through every outage, until its signal is aborted. */
export function patiently(policy: RetryPolicy, onRetry: Repeating['onRetry']): Repeating {
  return { waitBefore: (failure, attempt, random) => waitOfStream(failure, attempt, policy, random), onRetry }
}

/** What calls operations: the transport, or one that adds something to its requests. */
export interface Caller {
  call(row: OperationRow, input: Input, options?: Options): Promise<Result<unknown> | Page<unknown> | NotModified>
}

/** Sends requests, and repeats those that can be repeated. */
export class Transport implements Caller {
  readonly #options: TransportOptions

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /**
   * Calls an operation.
   * @param repeating default: as the options of the client say
   * @throws {ApiError} {@link NoResponse}, and the reason of the signal
   */
  async call(
    row: OperationRow,
    input: Input,
    options: Options = {},
    repeating?: Repeating | undefined,
  ): Promise<Result<unknown> | Page<unknown> | NotModified> {
    const { retries, random } = this.#options
    const isRead = row.method === 'GET'
    const key = isRead ? undefined : this.#keyOf(options)
    const isSafe = isRead || options.dryRun === true || key !== undefined
    const request = this.#prepare(row, input, options, key)
    const { waitBefore: waitFor, onRetry } = repeating ?? {
      waitBefore: (failure, attempt) => waitBefore(failure, attempt, isSafe, retries, random),
    }
    for (let attempt = 1; ; attempt++) {
      options.signal?.throwIfAborted()
      const answer = await this.#attempt(row, request, options, key)
      if (!('failure' in answer)) return answer
      const { failure, toError } = answer
      const wait = waitFor(failure, attempt, random)
      if (wait === undefined) throw toError(attempt)
      onRetry?.({ error: toError(attempt), attempt, wait })
      await sleep(this.#options.timers, wait, options.signal)
    }
  }

  #keyOf({ idempotencyKey, dryRun }: Options): string | undefined {
    if (idempotencyKey === false || (idempotencyKey === undefined && dryRun === true)) return undefined
    return idempotencyKey ?? this.#options.newKey()
  }

  #prepare(row: OperationRow, input: Input, options: Options, key: string | undefined): Request & { readonly url: string } {
    const { base, token } = this.#options
    const { target, body } = toRequest(row, input, row.method === 'GET' ? {} : { dry_run: options.dryRun })
    const headers = new Headers(options.headers)
    headers.set('authorization', `Bearer ${token}`)
    if (typeof body === 'string') headers.set('content-type', 'application/json')
    if (key !== undefined) headers.set('idempotency-key', `"${key}"`)
    if (options.ifMatch !== undefined) headers.set('if-match', options.ifMatch)
    if (options.ifClaim !== undefined) headers.set('if-claim', String(options.ifClaim))
    if (options.ifNoneMatch !== undefined) headers.set('if-none-match', options.ifNoneMatch)
    // A redirect would turn a POST into a GET.
    return { url: base + target, method: row.method, headers, body: body ?? null, redirect: 'error' }
  }

  /** @throws the reason of the caller's signal; every other failure is returned */
  async #attempt(
    { result }: OperationRow,
    { url, ...init }: Request,
    { signal, timeout = this.#options.timeout }: Options,
    key: string | undefined,
  ): Promise<Result<unknown> | NotModified | FailedAttempt> {
    const { fetch, timers, now } = this.#options
    const controller = new AbortController()
    const abort = (): void => controller.abort(signal!.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const timer = timers.setTimeout(() => controller.abort(new DOMException(`no response in ${timeout} ms`, 'TimeoutError')), timeout)
    try {
      const response = await fetch(url, { ...init, signal: controller.signal })
      const isBytes = result === 'bytes' && response.ok
      const text = isBytes || response.status === 304 ? '' : await response.text()
      if (response.ok || response.status === 304) return toResult(response, result, text)
      return refusal(response, text, key, now)
    } catch (error) {
      signal?.throwIfAborted()
      return { failure: {}, toError: (attempts) => new NoResponse(attempts, error, key) }
    } finally {
      timers.clearTimeout(timer)
      // The signal of the caller must still end the reading of bytes.
      if (result !== 'bytes') signal?.removeEventListener('abort', abort)
    }
  }
}

/**
 * Waits.
 * @throws the reason of the signal, at once when it is aborted
 */
export async function sleep(timers: Timers, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  // `onRetry` may have aborted it.
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      timers.clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = timers.setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** A request that can be sent several times. */
type Request = RequestInit & { readonly url: string }

/** @throws {SyntaxError} if the body is incomplete, or came from a proxy instead of the service, which counts as no response */
function toResult(response: Response, kind: OperationRow['result'], text: string): Result<unknown> | Page<unknown> | NotModified {
  const { status, headers } = response
  const etag = headers.get('etag') ?? undefined
  const common = { headers, etag, requestId: headers.get('x-request-id') ?? '', replayed: headers.get('idempotent-replayed') === 'true' }
  if (status === 304) return { ...common, status, data: undefined }
  const success = { ...common, status: status as Result<unknown>['status'] }
  if (kind === 'bytes') return { ...success, data: response }
  const { data, page } = (JSON.parse(text) ?? {}) as { data?: unknown; page?: { next_cursor: string | null } }
  if (kind === 'list' ? !Array.isArray(data) : data === undefined) throw new SyntaxError('the response has no data')
  return kind === 'list' ? { ...success, data: data as unknown[], nextCursor: page?.next_cursor ?? null } : { ...success, data }
}

/** A response that is no success: an error of the service, or a proxy's, which has no code. */
function refusal(response: Response, text: string, idempotencyKey: string | undefined, now: () => number): FailedAttempt {
  const { status, headers } = response
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  const { code, message, request_id, ...members } = errorIn(text) ?? {
    code: codeOf(status),
    message: `the response has the status ${status}`,
  }
  const details = {
    status,
    members: members as never,
    retryAfter,
    idempotencyKey,
    requestId: request_id ?? headers.get('x-request-id') ?? '',
  }
  return {
    failure: { status, code, outcome: members['outcome'], retryAfter },
    toError: () => new ApiError(code, message, details),
  }
}

interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly request_id?: string
  readonly [member: string]: unknown
}

function errorIn(text: string): ErrorBody | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<ErrorBody> }
    return typeof error?.code === 'string' && typeof error.message === 'string' ? (error as ErrorBody) : undefined
  } catch {
    return undefined
  }
}

/** The nearest code for a response that did not come from the service. */
function codeOf(status: number): ErrorCode {
  return status >= 502 && status <= 504 ? 'unavailable' : status >= 500 ? 'internal_error' : 'bad_request'
}
