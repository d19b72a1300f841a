import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll } from 'vitest'
import { startListener, type Listener } from '../../src/listener/listener.ts'
import { memory } from './memory.ts'
import { Service, type Person, type ServiceOptions } from './service.ts'

/** The revisions of MCP that clients speak. */
export const revisions = ['2025-11-25', '2026-07-28'] as const
export type Revision = (typeof revisions)[number]

/** A service with a listener, and MCP clients that are connected to it. */
export class McpService {
  service!: Service
  listener!: Listener
  ann!: Person
  readonly #clients: Client[] = []

  get url(): string {
    return `${this.listener.url}/mcp`
  }

  /** Connects the official client. */
  async connect(token: string, revision: Revision = '2026-07-28'): Promise<Client> {
    const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy'
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(this.url), { requestInit, fetch: fetchAgain }))
    this.#clients.push(client)
    return client
  }

  /** Sends one message of the revision 2026-07-28, in this process and without a client. */
  send(token: string | null, method: string, params: object = {}, headers: Record<string, string> = {}): Promise<Response> {
    return this.service.app.fetch(messageRequest(token, method, params, headers))
  }

  /** Calls a tool. @returns the status, and the result or the error */
  async call(token: string | null, name: string, args: object, headers: Record<string, string> = {}): Promise<CallReply> {
    const response = await this.send(token, 'tools/call', { name, arguments: args }, headers)
    const { result, error } = (await response.json()) as any
    return { status: response.status, headers: response.headers, result, error, content: result?.structuredContent }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
    await this.listener.close()
    await this.service.stop()
  }
}

/** On a loaded machine, a client may send a request on a connection that the listener has just closed, because it was idle. */
const fetchAgain = (url: string | URL, init?: RequestInit): Promise<Response> =>
  fetch(url, init).catch((error: { readonly cause?: { readonly code?: string } }) => {
    if (error.cause?.code !== 'ECONNRESET') throw error
    return fetch(url, init)
  })

export interface CallReply {
  readonly status: number
  readonly headers: Headers
  readonly result: any
  readonly error: any
  /** the structured content of the result */
  readonly content: any
}

/** A request with one message of the revision 2026-07-28. */
export function messageRequest(token: string | null, method: string, params: object, headers: Record<string, string> = {}): Request {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const { name, uri } = params as { name?: string; uri?: string }
  const own: Record<string, string> = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined && uri === undefined ? {} : { 'mcp-name': (name ?? uri)! }),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } })
  return new Request('http://localhost/mcp', { method: 'POST', headers: { ...own, ...headers }, body })
}

/** A service on memory for a suite, with a person who owns the workspace. */
export function setUpMcp(options: ServiceOptions = {}): McpService {
  const mcp = new McpService()
  beforeAll(async () => {
    mcp.service = await Service.start(memory, options)
    mcp.ann = await mcp.service.person(await mcp.service.workspace(), 'owner', 'Ann')
    mcp.listener = await startListener(mcp.service.app.h3, { port: 0, host: '127.0.0.1' })
  })
  afterAll(() => mcp.stop())
  return mcp
}
