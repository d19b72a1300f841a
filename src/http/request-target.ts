import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import type { ServerRequest } from 'srvx'

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
export function targetOf(event: Pick<H3Event, 'req' | 'url'>): RequestTarget {
  const sent = ((event.req as ServerRequest).runtime?.node?.req as IncomingMessage | undefined)?.url
  const target = sent === undefined ? event.url.pathname + event.url.search : originForm(sent)
  const question = target.indexOf('?')
  return question === -1 ? { path: target, search: '' } : { path: target.slice(0, question), search: target.slice(question) }
}

/** Removes the origin from the absolute form, which proxies send (RFC 9112 §3.2.2). */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
}

/** Whether a path is a prefix or below it. */
export function isBelow(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}

/**
 * The public origin of the service.
 * @param configured replaces the origin of the request
 */
export function originOf(request: ServerRequest, configured: string | undefined): string {
  return configured ?? `http://${request.headers.get('host') ?? new URL(request.url).host}`
}
