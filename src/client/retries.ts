/** How a failed request is repeated. */
export interface RetryPolicy {
  /** attempts of one call, the first one included; default 5 */
  readonly attempts: number
  /** the longest wait before the second attempt, in milliseconds; it doubles with each attempt; default 250 */
  readonly delay: number
  /** where that ends, in milliseconds; default 10,000 */
  readonly maxDelay: number
  /** a service that asks for a longer wait, in milliseconds, is not asked again; default 60,000 */
  readonly maxRetryAfter: number
}

export const defaultPolicy: RetryPolicy = { attempts: 5, delay: 250, maxDelay: 10_000, maxRetryAfter: 60_000 }

/** Why an attempt has failed. Without a status, there was no response, or only a part of one. */
export interface Failure {
  readonly status?: number
  readonly code?: string
  /** what a 503 says of the change */
  readonly outcome?: unknown
  /** in milliseconds */
  readonly retryAfter?: number | undefined
}

/**
 * How long to wait before the next attempt, in milliseconds; undefined if there must be none.
 * @param attempt the number of attempts so far
 * @param isSafe whether a second attempt cannot make a second change: a read, or a write with an idempotency key
 */
export function waitBefore(
  failure: Failure,
  attempt: number,
  isSafe: boolean,
  policy: RetryPolicy,
  random: () => number,
): number | undefined {
  const { retryAfter = 0 } = failure
  if (attempt >= policy.attempts || retryAfter > policy.maxRetryAfter || !isWorthRepeating(failure, isSafe)) return undefined
  return retryAfter + random() * Math.min(policy.maxDelay, policy.delay * 2 ** (attempt - 1))
}

/**
 * How long a stream of changes, or a worker, waits before its next attempt, in milliseconds; undefined if waiting cannot mend the failure.
 * The number of attempts has no limit: the service may be away for a day. Other statuses than 4xx come from a service or a proxy in
 * trouble.
 */
export function waitOfStream(
  { status = 0, code, retryAfter = 0 }: Failure,
  attempt: number,
  { delay, maxDelay, maxRetryAfter }: RetryPolicy,
  random: () => number,
): number | undefined {
  if (status >= 400 && status < 500 && !PASSING.has(status) && code !== 'idempotency_key_in_use') return undefined
  return Math.min(retryAfter, maxRetryAfter) + random() * Math.min(maxDelay, delay * 2 ** (attempt - 1))
}

/** Statuses of 4xx that another attempt may not get: not received in time, too early, too many requests. */
const PASSING = new Set([408, 425, 429])

function isWorthRepeating({ status, code, outcome }: Failure, isSafe: boolean): boolean {
  switch (status) {
    // Refused before anything was done.
    case 429:
      return true
    // An earlier attempt is still being handled.
    case 409:
      return code === 'idempotency_key_in_use'
    case 503:
      return outcome === 'not_done' || isSafe
    // Nothing was answered, or only a proxy has answered.
    case undefined:
    case 408:
    case 502:
    case 504:
      return isSafe
    default:
      return false
  }
}

/** The wait that a `Retry-After` asks for, in milliseconds: it is a number of seconds or a date. */
export function readRetryAfter(text: string | null, now: () => number): number | undefined {
  if (text === null) return undefined
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now()
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
