import type { IncomingMessage, ServerResponse } from 'node:http'

/** How much of a body is discarded after the response to it, in pieces and in milliseconds. A piece has up to 64 KiB. */
const MOST_PIECES = 1024
const LONGEST = 30_000

/**
 * Closes the connection of a client that goes on sending a body after its request was answered, such as with 401. Node.js would read all of it.
 * An ordinary client has time to send the rest and to read the response (RFC 9112 §9.6).
 * @param longest milliseconds until the connection is closed
 */
export function boundUnreadBody(request: IncomingMessage, response: ServerResponse, longest = LONGEST): void {
  response.once('finish', () => {
    if (request.complete) return
    let left = MOST_PIECES
    const close = (): void => void request.socket.destroy()
    const timer = setTimeout(close, longest)
    request.on('data', () => {
      if (left-- === 0) close()
    })
    request.once('close', () => clearTimeout(timer))
  })
}

/** Whether a request has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
