import { isIP } from 'node:net'
import type { ServerRequest } from 'srvx'
import { originOf } from '../http/request-target.ts'
import { ApiError } from '../model/errors.ts'

const FOREIGN_HOST =
  'The Host header names another host. Set LANEKEEPER_URL to the URL of the service; a proxy before it must pass the Host header.'
const FOREIGN_ORIGIN = 'The request comes from a page of another origin.'

/**
 * Refuses requests that a page of another site makes in a browser (MCP, Streamable HTTP, "Security & Endpoint"). With DNS rebinding,
 * such a page has the origin of its own host name, which leads to this service. An IP address in the Host header comes from no name.
 */
export class HostCheck {
  readonly #origin: string | undefined
  readonly #names: ReadonlySet<string>

  /**
   * @param origin the public origin of the service
   * @param listensOn the host name or address that it listens on
   */
  constructor(origin: string | undefined, listensOn: string | undefined) {
    this.#origin = origin
    const named = [origin === undefined ? undefined : new URL(origin).hostname, listensOn?.toLowerCase()]
    this.#names = new Set(['localhost', ...named.filter((name) => name !== undefined)])
  }

  /** @throws {ApiError} `forbidden` */
  requireOwn(request: ServerRequest): void {
    const host = request.headers.get('host') ?? new URL(request.url).host
    if (!this.#isOwn(host)) throw new ApiError('forbidden', { message: FOREIGN_HOST })
    const origin = request.headers.get('origin')
    if (origin !== null && origin !== originOf(request, this.#origin)) throw new ApiError('forbidden', { message: FOREIGN_ORIGIN })
  }

  #isOwn(host: string): boolean {
    const url = `http://${host}`
    if (!URL.canParse(url)) return false
    const { hostname } = new URL(url)
    return this.#names.has(hostname) || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}
