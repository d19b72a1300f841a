import type { ServerRequest } from 'srvx'
import { clientSignal } from '../http/answered.ts'
import { CompressibleResponse } from '../http/compression.ts'
import { handle } from '../http/pipeline.ts'
import type { ExchangePart } from '../governor/quotas.ts'
import type { Services } from '../http/services.ts'

/** A request below /v1. */
export interface ApiRequest {
  readonly method: string
  /** below /v1 */
  readonly path: string
  /** with its question mark, or empty */
  readonly search: string
  readonly headers: Readonly<Record<string, string>>
  /** sent as JSON, or as it is if it is a form, which has its type */
  readonly body: unknown
}

/** The members of a JSON answer of the API. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  /** the body as it was made */
  readonly content: string | Uint8Array
  readonly body: {
    readonly data?: unknown
    readonly page?: { readonly next_cursor: string | null }
    readonly error?: Readonly<Record<string, unknown>>
  }
}

const SHARED = ['ratelimit', 'ratelimit-policy', 'lanekeeper-token-expires']
/** The path has its own argument, so that no header or URL of the client decides which operation answers. */
const URL_BELOW_V1 = 'http://localhost/v1'

/**
 * One request to the MCP endpoint. Everything that it reads or changes is a request below /v1 with the same credential, which the
 * pipeline authenticates, decides and records as it does for any other client.
 */
export class Exchange {
  readonly requestId: string
  /** the headers that the response of the exchange must have, too: the rate limits, and when the token expires */
  readonly shared = new Headers()
  /** aborted when the client leaves */
  readonly signal: AbortSignal
  readonly #services: Services
  readonly #request: ServerRequest
  #part: ExchangePart = 'first'

  constructor(services: Services, request: ServerRequest, requestId: string) {
    this.#services = services
    this.#request = request
    this.requestId = requestId
    this.signal = clientSignal(request)
  }

  /**
   * Reads the account of the token. Rate limits count this request, and it is in progress until the response of the whole exchange
   * has been sent.
   */
  async authenticate(): Promise<ApiAnswer> {
    const { runtime } = this.#request
    const request = this.#apiRequest({ method: 'GET', path: '/account', search: '', headers: {}, body: undefined })
    const response = await handle(this.#services, this.#incoming(Object.assign(request, { runtime }), 'GET', '/account', ''))
    return this.#read(response)
  }

  /** Sends a request below /v1. It costs what it costs there: reading the account has paid for the first one. */
  async send(request: ApiRequest): Promise<ApiAnswer> {
    const { method, path, search } = request
    const part = this.#part
    this.#part = 'further'
    return this.#read(await handle(this.#services, this.#incoming(this.#apiRequest(request), method, path, search, part)))
  }

  #incoming(request: ServerRequest, method: string, path: string, search: string, part?: ExchangePart) {
    return { request, requestId: this.requestId, method, path, search, part }
  }

  async #read(response: Response): Promise<ApiAnswer> {
    for (const name of SHARED) {
      const value = response.headers.get(name)
      if (value !== null) this.shared.set(name, value)
    }
    return new ReadAnswer(response, response instanceof CompressibleResponse ? response.content : await response.text())
  }

  /** Only what identifies the client is passed on. */
  #apiRequest({ method, headers: own, body }: ApiRequest): ServerRequest {
    const headers = new Headers(own)
    for (const name of ['authorization', 'x-forwarded-for', 'user-agent']) {
      const value = this.#request.headers.get(name)
      if (value !== null) headers.set(name, value)
    }
    const isForm = body instanceof Blob
    if (body !== undefined && !isForm) headers.set('content-type', 'application/json')
    const content = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }
    const request = new Request(URL_BELOW_V1, { method, headers, signal: this.signal, ...content })
    return Object.assign(request, { ip: this.#request.ip }) as ServerRequest
  }
}

/** The answer of a response. Its body is parsed when it is first needed. */
class ReadAnswer implements ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly content: string | Uint8Array
  #body: ApiAnswer['body'] | undefined

  constructor({ status, headers }: Response, content: string | Uint8Array) {
    this.status = status
    this.headers = headers
    this.content = content
  }

  get body(): ApiAnswer['body'] {
    return (this.#body ??= JSON.parse(textOf(this.content)) as ApiAnswer['body'])
  }
}

/** The text of a body. */
export function textOf(content: string | Uint8Array): string {
  return typeof content === 'string' ? content : Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString()
}
