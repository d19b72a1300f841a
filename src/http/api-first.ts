import { H3, type H3Config, type H3Event } from 'h3'
import { isBelow, targetOf, type RequestTarget } from './request-target.ts'

/** What answers the requests that h3 does not route. */
export interface Unrouted {
  /** every request below /v1 */
  readonly api: (event: H3Event, target: RequestTarget) => Promise<Response>
  /** a request for an address that does not exist */
  readonly wrongAddress: (event: H3Event) => Promise<Response>
}

/**
 * h3 for routes by the path that the client sent: h3 itself normalizes paths. Requests below /v1 are answered before h3 looks for a route.
 * As a route of h3 with middleware, a GET took 8 % (account: 134.6 µs instead of 124.2) and 6 % (card: 144.0 instead of 135.3) more CPU time,
 * most of it in `findRoute` of rou3, which splits each path. (November 2026, h3 2.0.8, one run: two processes of each way in turns, 100 times
 * 250 requests, the tenth percentile of `process.cpuUsage` over the count.)
 */
export class ApiFirst extends H3 {
  readonly #unrouted: Unrouted

  constructor(config: H3Config, unrouted: Unrouted) {
    super(config)
    this.#unrouted = unrouted
  }

  override handler(event: H3Event): unknown {
    const target = targetOf(event)
    if (isBelow('/v1', target.path)) return this.#unrouted.api(event, target)
    return target.path === event.url.pathname ? super.handler(event) : this.#unrouted.wrongAddress(event)
  }
}
