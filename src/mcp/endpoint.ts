import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { ServerRequest } from 'srvx'
import { Cost } from '../governor/cost.ts'
import { Turn } from '../governor/turns.ts'
import { CompressibleResponse, HttpResponse } from '../http/compression.ts'
import { API_HEADERS, errorBody } from '../http/envelope.ts'
import { toApiError } from '../http/error-mapping.ts'
import { readJson } from '../http/input.ts'
import type { Services } from '../http/services.ts'
import { ApiError } from '../model/errors.ts'
import { programVersion } from '../model/package-files.ts'
import type { Operation } from '../resources/operation.ts'
import { Exchange, type ApiAnswer } from './exchange.ts'
import { answerFormat, withoutNulls, type AnswerFormat } from './message-form.ts'
import { createServer } from './server.ts'
import type { CallContext } from './tool-call.ts'
import { describeError } from './tool-result.ts'
import { ToolList } from './tool-list.ts'
import type { PublicUrl } from '../http/public-url.ts'

/** What the endpoint is made from. */
export interface McpOptions {
  readonly operations: readonly Operation[]
  /** where clients reach the service */
  readonly site: PublicUrl
  /** the host name or address that the service listens on */
  readonly host: string | undefined
}

const NO_BATCH = 'Send one message in a request. Batches were removed from MCP in its revision 2025-06-18.'
const NEITHER = 'An answer is JSON or a stream of events. Send Accept: application/json, text/event-stream; one of the two is enough.'
/** The code of an error that JSON-RPC leaves to the transport. */
const TRANSPORT_ERROR = -32_000
const INVALID_REQUEST = -32_600
/** The headers of the request that the library reads. It gets no credential. */
const PASSED_ON = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
/** The headers of an answer of the API that say why a request was refused. */
const OF_REFUSALS = new Set(['www-authenticate', 'allow', 'retry-after', 'accept-post', 'accept-encoding', 'connection'])

/** What is read of the account of a token. */
interface Account {
  readonly user_id: string
  readonly scopes: readonly string[]
  readonly workspace: { readonly id: string }
  readonly token: { readonly id: string }
}

/** The account of a token that may not read it. */
const WITHOUT_SCOPE: Account = { user_id: '', scopes: [], workspace: { id: '' }, token: { id: '' } }

/**
 * The MCP endpoint: Streamable HTTP without sessions. It accepts the tokens of the API, and does nothing itself: see {@link Exchange}.
 * @returns the handler of every request to /mcp; it never throws
 */
export function createMcpEndpoint(current: () => Services, options: McpOptions): (request: ServerRequest) => Promise<Response> {
  const { log, turns } = current()
  const hosts = new HostCheck(options.site, options.host)
  const list = new ToolList(() => current().engine, options.operations)
  const handler = createMcpHandler(
    ({ authInfo }) => createServer(list, programVersion, log, authInfo!.extra as unknown as CallContext),
    // No tool, resource or list of them announces changes, so there is nothing to subscribe to.
    { maxSubscriptions: 0, onerror: ({ name }) => log.debug({ event: 'mcp.error', name }, 'MCP') },
  )

  const answer = async (request: ServerRequest, exchange: Exchange): Promise<Response> => {
    hosts.requireOwn(request) // 403
    const account = await exchange.authenticate()
    // A token without a scope of this service can connect, and learns from the result of each call what it needs.
    const isKnown = account.status === 200 || account.body.error?.['code'] === 'insufficient_scope'
    if (!isKnown) return refuse(exchange, account, options.site.base)
    if (request.method !== 'POST') throw new ApiError('method_not_allowed', { headers: { allow: 'POST' } })
    const { scopes, workspace, token, user_id: userId } = account.status === 200 ? (account.body.data as Account) : WITHOUT_SCOPE
    const turn = new Turn(turns, { workspaceId: workspace.id, id: token.id, signal: exchange.signal })
    const cost = new Cost()
    const message = await readJson(
      request,
      { method: 'POST', body: {}, isBodyOptional: false },
      { beforeLarge: () => turn.take(), cost },
    ).finally(() => turn.leave())
    // The requests that it becomes cost what they contain, too: they are parsed again.
    if (cost.units > 1) current().rateLimits?.countDoneOf(token.id, workspace.id, cost.units - 1)
    if (Array.isArray(message)) return respond(exchange, 400, {}, { id: null, error: { code: INVALID_REQUEST, message: NO_BATCH } })
    const authInfo = { token: '', clientId: '', scopes: [...scopes], extra: { exchange, scopes, userId } }
    const format = answerFormat(request.headers.get('accept'))
    if (format === undefined) return respond(exchange, 406, {}, { id: null, error: { code: TRANSPORT_ERROR, message: NEITHER } })
    const passed = withoutCredential(request, exchange.signal)
    return complete(exchange, format, await handler.fetch(passed, { parsedBody: withoutNulls(message), authInfo }))
  }

  return async (request) => {
    const exchange = new Exchange(current(), request, randomUUID())
    try {
      return await answer(request, exchange)
    } catch (error) {
      const apiError = toApiError(log, exchange.requestId, error)
      const { status, details } = apiError
      return refuse(
        exchange,
        { status, headers: new Headers(details.headers), body: errorBody(exchange.requestId, apiError) },
        options.site.base,
      )
    }
  }
}

/**
 * Answers with an error of the API: its status and headers, and a message of JSON-RPC that has all its members.
 * @param base the path below which the service is
 */
function refuse(exchange: Exchange, { status, headers, body }: Omit<ApiAnswer, 'content'>, base: string): Response {
  const data = describeError(body.error ?? {}, headers, base)
  const message = [data['message'], data['next']].filter((text) => text !== undefined).join(' ')
  const own = Object.fromEntries([...headers].filter(([name]) => OF_REFUSALS.has(name)))
  return respond(exchange, status, own, { id: null, error: { code: TRANSPORT_ERROR, message, data } })
}

function respond(exchange: Exchange, status: number, own: Readonly<Record<string, string>>, message: object): Response {
  const headers = headersOf(exchange, Object.entries({ ...own, 'content-type': API_HEADERS['content-type'] }))
  return whole(status, headers, JSON.stringify({ jsonrpc: '2.0', ...message }))
}

/** What the library requires of a client, although it answers in one of the two. */
const BOTH = 'application/json, text/event-stream'

function withoutCredential(request: ServerRequest, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const name of PASSED_ON) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  headers.set('accept', BOTH)
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal })
}

/** The data of the one event of a stream. */
const EVENT = /^data: (.*)$/m
/** The headers of the library that only a stream needs. */
const OF_STREAMS = ['connection', 'x-accel-buffering']

/**
 * A response of the library, with the headers of all responses. A stream of events has one event, the answer, and is sent when that is
 * there.
 */
async function complete(exchange: Exchange, format: AnswerFormat, response: Response): Promise<Response> {
  const { status, body } = response
  const headers = headersOf(exchange, response.headers)
  if (body === null) {
    headers.delete('content-type')
    return new HttpResponse(null, { status, headers })
  }
  const content = await response.text()
  // The answer may have changed what remains of the rate limits.
  for (const [name, value] of exchange.shared) headers.set(name, value)
  if (headers.get('content-type')?.startsWith('application/json') === true) return whole(status, headers, content)
  const event = format === 'json' ? EVENT.exec(content)?.[1] : undefined
  if (event === undefined) return new HttpResponse(content, { status, headers })
  for (const name of OF_STREAMS) headers.delete(name)
  headers.set('content-type', API_HEADERS['content-type'])
  return whole(status, headers, event)
}

/** A response that may be compressed: no tool returns a secret. */
function whole(status: number, headers: Headers, content: string): Response {
  headers.set('content-length', String(Buffer.byteLength(content)))
  return new CompressibleResponse(content, status, [...headers].flat())
}

/** The headers of every response that depends on a token, and the headers of this response. */
function headersOf({ requestId, shared }: Exchange, own: Iterable<[string, string]>): Headers {
  const headers = new Headers({ ...API_HEADERS, 'x-request-id': requestId })
  for (const [name, value] of [...shared, ...own]) if (name !== 'cache-control') headers.set(name, value)
  return headers
}

const FOREIGN_HOST =
  'The Host header names another host. Set LANEKEEPER_URL to the URL of the service; a proxy before it must pass the Host header.'
const FOREIGN_ORIGIN = 'The request comes from a page of another origin.'

/**
 * Refuses requests that a page of another site makes in a browser (MCP, Streamable HTTP, "Security & Endpoint"). With DNS rebinding,
 * such a page has the origin of its own host name, which leads to this service. An IP address in the Host header comes from no name.
 */
export class HostCheck {
  readonly #site: PublicUrl
  readonly #names: ReadonlySet<string>

  /**
   * @param site its host name may be named
   * @param listensOn the host name or address that it listens on
   */
  constructor(site: PublicUrl, listensOn: string | undefined) {
    this.#site = site
    const named = [site.url === undefined ? undefined : new URL(site.url).hostname, listensOn?.toLowerCase()]
    this.#names = new Set(['localhost', ...named.filter((name) => name !== undefined)])
  }

  /** @throws {ApiError} `forbidden` */
  requireOwn(request: ServerRequest): void {
    const host = request.headers.get('host') ?? new URL(request.url).host
    if (!this.#isOwn(host)) throw new ApiError('forbidden', { message: FOREIGN_HOST })
    const origin = request.headers.get('origin')
    if (origin !== null && origin !== this.#site.originFor(request)) throw new ApiError('forbidden', { message: FOREIGN_ORIGIN })
  }

  #isOwn(host: string): boolean {
    const url = `http://${host}`
    if (!URL.canParse(url)) return false
    const { hostname } = new URL(url)
    return this.#names.has(hostname) || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}
