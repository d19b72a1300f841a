import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, errors, type ErrorCode } from '../model/errors.ts'
import { API_HEADERS, errorBody } from '../http/envelope.ts'

/** A Node request handler. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Answers what Node refuses before it becomes a request (invalid HTTP, oversized heads) with the error envelope.
 * @param handler answers requests
 */
export function speakEnvelope(server: Server, handler: NodeHandler): void {
  // Node's own refusal of a request without a Host header has no body.
  Object.assign(server, { requireHostHeader: false })
  const handleValid: NodeHandler = (request, response) => {
    if (isValid(request)) handler(request, response)
    else refuse(request.socket, 'bad_request')
  }
  server.on('request', handleValid)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else refuse(socket, codeOf(error))
  })
  server.on('connect', (_request, socket) => refuse(socket, 'bad_request'))
  // `bodyOf` sends "100 Continue" when it reads the body. After a refusal without it, the client may or may not send the
  // body, so the connection must close (RFC 9110 §10.1.1).
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close')
    handleValid(request, response)
  })
  // Unknown expectations are ignored.
  server.on('checkExpectation', handleValid)
}

// A host name or an address, with an optional port (RFC 3986 §3.2.2).
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** Whether the version and the Host header of a request are valid (RFC 9112 §2.3, §3.2). */
function isValid({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return false
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return false
  return HOST.test(headers.host ?? '')
}

/** A method that the parser does not know, and a space: anything else is no HTTP. */
const UNKNOWN_METHOD = /^[\w!#$%&'*+.^`|~-]+ /

function codeOf({ code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large'
  if (code === 'HPE_INVALID_METHOD' && UNKNOWN_METHOD.test(rawPacket?.toString('latin1', 0, 100) ?? '')) return 'not_implemented'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'bad_request'
}

function refuse(socket: Duplex, code: ErrorCode): void {
  const requestId = randomUUID()
  const { status } = errors[code]
  const body = JSON.stringify(errorBody(requestId, new ApiError(code)))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(API_HEADERS).map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  socket.on('error', () => socket.destroy())
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
