import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { listen } from 'listhen'
import { Failure, failures, type FailureCode } from '../model/failure.ts'
import { errorBody } from './envelope.ts'

/** A service that listens. */
export interface Listener {
  /** the origin, without /v1 */
  readonly url: string
  readonly port: number
  /** Takes no more connections, lets requests in flight end, and resolves once all is closed. */
  close(): Promise<void>
}

export interface ListenOptions {
  readonly port: number
  readonly host: string
  /** how long requests in flight are waited for, in milliseconds */
  readonly grace?: number
}

/**
 * Listens, under listhen.
 * @throws where the port is taken
 */
export async function startListener(h3: H3, { port, host, grace = 10_000 }: ListenOptions): Promise<Listener> {
  const handler = toNodeHandler(h3) as (request: IncomingMessage, response: ServerResponse) => unknown
  // isProd: a busy port is an error, not another port. autoClose: false, because listhen's own handler of
  // signals exits at once and drops what is in flight.
  const listener = await listen(handler, { port, hostname: host, autoClose: false, isProd: true, showURL: false })
  const server = listener.server as Server
  // listhen counts requests to be able to kill them, and its counter throws where a body is refused early.
  server.removeAllListeners('request')
  server.on('request', handler)
  speakEnvelope(server)
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: `http://${name}:${address.port}`, port: address.port, close: () => close(server, grace) }
}

async function close(server: Server, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), 20)
  const force = setTimeout(() => server.closeAllConnections(), grace)
  await closed
  clearInterval(idle)
  clearTimeout(force)
}

// What is no HTTP, or more than Node takes, never becomes a request: it gets its envelope here.
function speakEnvelope(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else refuse(socket, codeOf(error))
  })
  server.on('connect', (_request, socket) => refuse(socket, 'bad_request'))
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(failures.expectation_failed.status, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
    response.end(JSON.stringify(errorBody(randomUUID(), new Failure('expectation_failed'))))
  })
}

function codeOf({ code }: NodeJS.ErrnoException): FailureCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'bad_request'
}

function refuse(socket: Duplex, code: FailureCode): void {
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(requestId, new Failure(code)))
  const head = [
    `HTTP/1.1 ${failures[code].status} ${code}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'cache-control: private, no-store',
    'connection: close',
  ]
  socket.on('error', () => socket.destroy())
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
