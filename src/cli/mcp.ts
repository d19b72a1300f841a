import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { readLines } from '../admin/rpc-server.ts'
import { ConfigError, readUrl } from '../config.ts'

interface McpFlags {
  readonly url?: string
  readonly tokenFile?: string
}

/** Adds `lanekeeper mcp`, for clients that start a program instead of calling a URL. Only this command loads the bridge. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('connect an MCP client that speaks stdio to the MCP endpoint of a running service')
    .option('--url <url>', 'the URL of the service, such as https://kanban.example (env: LANEKEEPER_URL)')
    .option('--token-file <file>', 'the file with the access token (env: LANEKEEPER_TOKEN, the token itself)')
    .action(async (flags: McpFlags) => {
      const url = readUrl(flags, process.env)
      if (url === undefined) throw new ConfigError('url: the URL of the service is missing')
      const token = readToken(flags, process.env)
      if (isUnprotected(url)) console.error('the token is sent unencrypted: use the https URL of the service')
      await new Bridge(`${url}/mcp`, token, (message) => void process.stdout.write(`${message}\n`)).run(process.stdin)
    })
}

/**
 * Reads the token. It is no option, because every user of the machine can see the arguments of a process.
 * @throws {ConfigError}
 */
function readToken({ tokenFile }: McpFlags, env: NodeJS.ProcessEnv): string {
  const source = tokenFile === undefined ? 'LANEKEEPER_TOKEN' : 'token-file'
  const token = (tokenFile === undefined ? env['LANEKEEPER_TOKEN'] : readFile(tokenFile))?.trim()
  if (token === undefined || token === '') throw new ConfigError(`${source}: the access token is missing`)
  // The message does not repeat it.
  if (!/^\w+$/.test(token)) throw new ConfigError(`${source}: this is no access token`)
  return token
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`token-file: ${(error as Error).message}`)
  }
}

function isUnprotected(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname)
}

/** The members of a JSON-RPC message that the bridge reads. */
interface Message {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: {
    readonly name?: unknown
    readonly uri?: unknown
    readonly requestId?: string | number
    readonly _meta?: Readonly<Record<string, unknown>>
  }
  readonly result?: { readonly protocolVersion?: unknown }
  readonly error?: object
}

/** The number of messages that are sent at the same time: as many as the service handles for one token. */
const MAX_IN_FLIGHT = 64
const [PARSE_ERROR, TRANSPORT_ERROR] = [-32_700, -32_000]
const VERSION_MEMBER = 'io.modelcontextprotocol/protocolVersion'

/** Passes the messages of an MCP client, one in each line, to an endpoint of Streamable HTTP, and its messages back. */
export class Bridge {
  readonly #url: string
  readonly #token: string
  readonly #write: (line: string) => void
  readonly #inFlight = new Set<Promise<void>>()
  readonly #requests = new Map<string | number, AbortController>()
  /** the revision that `initialize` has agreed on; since 2026-07-28 each message states its own */
  #version: string | undefined

  /** @param write writes a message to the client */
  constructor(url: string, token: string, write: (line: string) => void) {
    this.#url = url
    this.#token = token
    this.#write = write
  }

  /** Resolves when the input has ended and all messages are answered. */
  async run(input: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const line of readLines(input)) {
      if (line.trim() === '') continue
      while (this.#inFlight.size >= MAX_IN_FLIGHT) await Promise.race(this.#inFlight)
      const sent: Promise<void> = this.#accept(line).finally(() => this.#inFlight.delete(sent))
      this.#inFlight.add(sent)
    }
    await Promise.all(this.#inFlight)
  }

  async #accept(line: string): Promise<void> {
    let message: Message
    try {
      message = (JSON.parse(line) ?? {}) as Message
    } catch {
      return this.#fail(null, PARSE_ERROR, 'The line is not valid JSON.')
    }
    const { id, method, params } = message
    // The service ends a request when its connection closes, and keeps no other state that this could refer to.
    if (method === 'notifications/cancelled') return this.#requests.get(params?.requestId ?? '')?.abort()
    const controller = new AbortController()
    if (isId(id)) this.#requests.set(id, controller)
    try {
      await this.#send(line, message, controller.signal)
    } catch (error) {
      const reason = (error as { cause?: { message?: string } }).cause?.message ?? (error as Error).message
      if (!controller.signal.aborted) this.#fail(id, TRANSPORT_ERROR, `The service at ${this.#url} did not answer: ${reason}`)
    } finally {
      if (isId(id)) this.#requests.delete(id)
    }
  }

  async #send(body: string, message: Message, signal: AbortSignal): Promise<void> {
    // A redirect would send the token to another address.
    const response = await fetch(this.#url, { method: 'POST', headers: this.#headersOf(message), body, signal, redirect: 'error' })
    const type = response.headers.get('content-type') ?? ''
    if (response.body !== null && type.startsWith('text/event-stream')) {
      for await (const data of eventsOf(response.body)) this.#deliver(message, data)
    } else if (type.startsWith('application/json')) this.#deliver(message, await response.text())
    else if (!response.ok) throw new Error(`HTTP ${response.status}`)
  }

  #headersOf({ method, params }: Message): Record<string, string> {
    const version = params?.['_meta']?.[VERSION_MEMBER] ?? this.#version
    const name = params?.name ?? params?.uri
    return {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(typeof version === 'string' ? { 'mcp-protocol-version': headerValue(version) } : {}),
      ...(method === undefined ? {} : { 'mcp-method': headerValue(method) }),
      ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
    }
  }

  /** Passes on a message of the service. An error that it cannot relate to a request is the answer to the request that it came for. */
  #deliver({ id, method }: Message, text: string): void {
    const answer = JSON.parse(text) as Message
    if (method === 'initialize' && typeof answer.result?.protocolVersion === 'string') this.#version = answer.result.protocolVersion
    const isUnrelated = answer.error !== undefined && !isId(answer.id)
    if (isUnrelated && id === undefined) return this.#report(text)
    this.#write(JSON.stringify(isUnrelated ? { ...answer, id } : answer))
  }

  /** @param id undefined: the message was a notification, which has no answer */
  #fail(id: Message['id'], code: number, message: string): void {
    if (id === undefined) return this.#report(message)
    this.#write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
  }

  /** Clients show or log what a program writes to stderr. */
  #report(text: string): void {
    console.error(text)
  }
}

function isId(id: Message['id']): id is string | number {
  return typeof id === 'string' || typeof id === 'number'
}

/** A text as the value of a header: other characters than visible ASCII ones are encoded (MCP 2026-07-28, Streamable HTTP). */
function headerValue(text: string): string {
  return /^[!-~]([ -~]*[!-~])?$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** The data of the events of a stream (HTML, "Server-sent events"). */
async function* eventsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of readLines(stream)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).trim())
    else if (line.trim() === '' && data.length > 0) {
      yield data.join('\n')
      data = []
    }
  }
}
