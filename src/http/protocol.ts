import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, errors, type ErrorCode } from '../model/errors.ts'
import { errorBody } from './envelope.ts'

/** A Node request handler. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Answers what Node refuses before it becomes a request (invalid HTTP, oversized heads) with the error envelope.
 * @param handler answers requests
 */
export function speakEnvelope(server: Server, handler: NodeHandler): void {
  // Node's own refusal of a request without a Host header has no body.
  Object.assign(server, { requireHostHeader: false })
  server.on('request', (request, response) => {
    if (request.httpVersion === '1.1' && request.headers.host === undefined) refuse(request.socket, 'bad_request')
    else handler(request, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else refuse(socket, codeOf(error))
  })
  server.on('connect', (_request, socket) => refuse(socket, 'bad_request'))
  // `bodyOf` sends "100 Continue" when it reads the body. After a refusal without it, the client may or may not send the
  // body, so the connection must close (RFC 9110 §10.1.1).
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('connection', 'close')
    handler(request, response)
  })
  // Unknown expectations are ignored.
  server.on('checkExpectation', handler)
}

function codeOf({ code }: NodeJS.ErrnoException): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'bad_request'
}

function refuse(socket: Duplex, code: ErrorCode): void {
  const requestId = randomUUID()
  const { status } = errors[code]
  const body = JSON.stringify(errorBody(requestId, new ApiError(code)))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: private, no-store',
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  socket.on('error', () => socket.destroy())
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
