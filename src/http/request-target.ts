import type { IncomingMessage } from 'node:http'
import { H3, type H3Event, type H3Config } from 'h3'
import type { ServerRequest } from 'srvx'
import type { Awaitable } from '../model/awaitable.ts'
import type { PublicUrl } from './public-url.ts'

/** The target of a request, as the client sent it. */
export interface RequestTarget {
  readonly path: string
  /** with its question mark, or empty */
  readonly search: string
}

/**
 * Returns the target of a request before normalization: dot segments, backslashes and escapes are unchanged. A proxy that
 * filters by path prefix and this service must see the same path.
 * @param event its normalized URL is used for requests without a connection
 */
function targetOf(event: Pick<H3Event, 'req' | 'url'>): RequestTarget {
  const sent = ((event.req as ServerRequest).runtime?.node?.req as IncomingMessage | undefined)?.url
  // Without the origin of the absolute form, which proxies send (RFC 9112 §3.2.2).
  const target = sent === undefined ? event.url.pathname + event.url.search : sent.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  const question = target.indexOf('?')
  return question === -1 ? { path: target, search: '' } : { path: target.slice(0, question), search: target.slice(question) }
}

/** Whether a path is a prefix or below it. */
function isBelow(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}

/** What answers the requests that h3 does not route. */
export interface Unrouted {
  /** every request below a prefix: of the API, and of the decision point. No public URL has a path that begins so */
  readonly below: readonly (readonly [prefix: string, answer: (event: H3Event, target: RequestTarget) => Awaitable<Response>])[]
  /** a request for an address that does not exist */
  readonly wrongAddress: (event: H3Event) => Promise<Response>
}

/**
 * h3 for routes by the path that the client sent: h3 itself normalizes paths. Requests below /v1 are answered before h3 looks for a route.
 * As a route of h3 with middleware, a GET took 8 % (account: 134.6 µs instead of 124.2) and 6 % (card: 144.0 instead of 135.3) more CPU
 * time, most of it in `findRoute` of rou3, which splits each path. (November 2026, h3 2.0.8, one run: two processes of each way in turns,
 * 100 times 250 requests, the tenth percentile of `process.cpuUsage` over the count.)
 */
export class ApiFirst extends H3 {
  readonly #unrouted: Unrouted
  readonly #site: PublicUrl

  constructor(config: H3Config, site: PublicUrl, unrouted: Unrouted) {
    super(config)
    this.#site = site
    this.#unrouted = unrouted
  }

  override handler(event: H3Event): unknown {
    const sent = targetOf(event)
    const answer = this.#answerOf(sent.path)
    if (answer !== undefined) return answer(event, sent)
    const { url } = event
    const isNormal = sent.path === url.pathname
    const path = this.#site.innerPath(sent.path)
    if (path !== sent.path) {
      const inner = this.#answerOf(path)
      if (inner !== undefined) return inner(event, { path, search: sent.search })
      url.pathname = this.#site.innerPath(url.pathname)
    }
    return isNormal ? super.handler(event) : this.#unrouted.wrongAddress(event)
  }

  #answerOf(path: string) {
    for (const [prefix, answer] of this.#unrouted.below) if (isBelow(prefix, path)) return answer
    return undefined
  }
}
