import type { ServerRequest } from 'srvx'

/** The addresses below which the service answers, by their first segments. The path of the public URL begins with another one. */
export const OWN_SEGMENTS: ReadonlySet<string> = new Set([
  'v1',
  'access',
  'mcp',
  'healthz',
  'readyz',
  'revoke',
  'register',
  'authorize',
  'token',
  'openapi.json',
  'llms.txt',
  '.well-known',
  'policies',
  'docs',
  'favicon.svg',
  'favicon.ico',
  'app',
  'settings',
  'sign-in',
])
/** A path of plain segments: no escapes, no empty or dot segment, which proxies and browsers change. */
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/
const EXPECTED = 'it must be a URL like https://kanban.example or https://example.org/kanban, without credentials, a query or a fragment'

/**
 * Reads the public URL of the service.
 * @returns without a slash at its end
 * @throws {Error} with a message that does not repeat the URL, which may contain a password
 */
export function parsePublicUrl(text: string): string {
  const [, path] = /^https?:\/\/[^/?#\\@]+(.*)$/is.exec(text.trim()) ?? []
  if (path === undefined || !URL.canParse(text)) throw new Error(EXPECTED)
  if (!PATH.test(path)) throw new Error(/^[^?#@]*$/.test(path) ? `${EXPECTED}; its path has letters, digits, - . _ ~ only` : EXPECTED)
  const base = path.replace(/\/$/, '')
  const segments = base.split('/').slice(1)
  const last = segments.at(-1)
  if (last === 'v1' || last === 'mcp') throw new Error(`it must be the URL of the service: leave out /${last}`)
  if (OWN_SEGMENTS.has(segments[0] ?? '')) throw new Error(`its path cannot begin with /${segments[0]}, which is an address of the service`)
  return new URL(text).origin + base
}

/** Where clients reach the service: an origin, and the path below which the service is there. */
export class PublicUrl {
  /** such as `/kanban`; empty: nothing else is at the origin */
  readonly base: string
  /** as it was configured, without a slash at its end; undefined: the service has the origin of each request */
  readonly url: string | undefined
  readonly #origin: string | undefined

  /** @param url as {@link parsePublicUrl} returns it */
  constructor(url: string | undefined) {
    this.url = url
    this.#origin = url === undefined ? undefined : new URL(url).origin
    this.base = url === undefined ? '' : url.slice(this.#origin!.length)
  }

  /** The origin alone, which browsers compare. */
  originFor(request: ServerRequest): string {
    return this.#origin ?? `http://${request.headers.get('host') ?? new URL(request.url).host}`
  }

  /** The URL of the service, without a slash at its end. */
  urlFor(request: ServerRequest): string {
    return this.originFor(request) + this.base
  }

  /** The path of an address of the service, of a path that a client has sent. A proxy may have removed the base already. */
  innerPath(path: string): string {
    const { base } = this
    if (base === '' || !path.startsWith(base)) return path
    const rest = path.slice(base.length)
    return rest === '' ? '/' : rest.startsWith('/') ? rest : path
  }

  /** An address of the service, such as `/app?x`, as a client has to ask for it. What begins with no slash is somewhere else. */
  outerAddress(address: string): string {
    return address.startsWith('/') ? this.base + address : address
  }
}
