import { constants } from 'node:crypto'
import type { ClientRequest, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'

/** What another server may make this service read, until its answer has ended. */
export interface AnswerBounds {
  /** bytes after decryption, including headers, interim responses and the framing of the body */
  readonly bytes: number
  /** the pieces that they may come in: each wakes the process */
  readonly pieces: number
}

/** How much is parsed at once, in bytes: what exceeds a bound is not parsed at all. */
const PIECE = 4096
/** Answers with 1xx before the answer, and tickets of TLS sessions. Servers send a few of them. */
const EVENTS = 16
/** Headers that are kept. The others are skipped. */
const HEADERS = 100

/**
 * Bounds what the server of a request can make this process do, in bytes and in events. A time limit alone would let it send as fast as it
 * can: answers with 100, headers, extensions of chunks and tickets cost much more to read than to write.
 * @param exceed is called when it has sent too much, more than once maybe; it has to destroy the request
 * @returns options for the request, whose connection must be its own, and what has to be called with it
 */
export function boundAnswer(
  { bytes, pieces }: AnswerBounds,
  exceed: () => void,
): { readonly options: RequestOptions; readonly observe: (request: ClientRequest) => void } {
  const left = { bytes, pieces, informational: EVENTS, tickets: EVENTS }
  const use = (what: keyof typeof left, amount = 1): boolean => {
    left[what] -= amount
    if (left[what] >= 0) return true
    exceed()
    return false
  }
  const onread = {
    buffer: Buffer.allocUnsafe(PIECE),
    callback(this: Socket, length: number, buffer: Uint8Array): boolean {
      return use('bytes', length) && use('pieces') && this.push(Buffer.from(buffer.subarray(0, length)))
    },
  }
  return {
    // The type lacks the options of a socket. In TLS 1.2, a server could ask for one handshake after the other.
    options: { onread, secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as RequestOptions,
    observe(request) {
      request.maxHeadersCount = HEADERS
      request.on('information', () => use('informational'))
      request.on('socket', (socket) => socket.on('session', () => use('tickets')))
    },
  }
}
