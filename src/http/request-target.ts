import type { IncomingMessage } from 'node:http'
import type { ServerRequest } from 'srvx'

/** What a request asks for, as it was sent. */
export interface RequestTarget {
  readonly path: string
  /** with its question mark, or empty */
  readonly search: string
}

/**
 * The target of a request before anybody has made it tidy: dot segments, backslashes and escapes are as they
 * came. A proxy in front that filters by prefix and we must read the same path, or neither.
 * @param url the same, made tidy; used where there is no connection
 */
export function targetOf(request: ServerRequest, url: URL): RequestTarget {
  const sent = (request.runtime?.node?.req as IncomingMessage | undefined)?.url
  // Absolute form is a proxy's (RFC 9112 §3.2.2): what is behind the authority is the same.
  const target = sent === undefined ? url.pathname + url.search : sent.startsWith('/') ? sent : sent.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  const question = target.indexOf('?')
  return question === -1 ? { path: target, search: '' } : { path: target.slice(0, question), search: target.slice(question) }
}

/** Whether a path below a prefix was asked for. */
export function isBelow(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}
