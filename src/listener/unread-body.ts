import type { IncomingMessage } from 'node:http'

/** How much of a body is discarded after the response to it, in pieces and in milliseconds. A piece has up to 64 KiB. */
const MOST_PIECES = 1024
const LONGEST = 30_000

/**
 * Discards the rest of a body whose request is being answered, such as with 401, and closes the connection of a client that goes on sending.
 * An ordinary client has time to send the rest and to read the response (RFC 9112 §9.6). Node.js itself would read all of it.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return
  let left = MOST_PIECES
  const close = (): void => void request.socket.destroy()
  const timer = setTimeout(close, LONGEST)
  const end = (): void => clearTimeout(timer)
  request.on('data', () => {
    if (left-- === 0) close()
  })
  request.once('end', end).once('close', end)
  request.resume()
}

/** Whether a request has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}
