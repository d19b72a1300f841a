import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { DAY, systemClock, type Clock } from '../model/time.ts'
import { boundAnswer, type AnswerBounds } from '../outgoing/bounded-answer.ts'
import { limitTime, systemTimers, type EndOfWaiting, type Timers } from './time-limit.ts'

// One attempt at a delivery (src/http/webhooks.md, "What is sent" and "Failures").

/** Milliseconds from the beginning of the connection until an attempt without a status is given up. */
const TIME_LIMIT = 10_000
/** How much of the body of an answer is read, in bytes, before the connection is ended. */
const MAX_ANSWER = 1024
/** The size of all headers of an answer, in bytes. */
const MAX_HEADERS = 16 * 1024
/** What a receiver may send in all. An answer that comes byte by byte is one piece for each byte. */
const BOUNDS: AnswerBounds = { bytes: 32 * 1024, pieces: 256 }

/** What is sent, and where to. */
export interface Delivery {
  /** a URL that was checked by `Targets.resolve` */
  readonly url: string
  /** the address that it returned: nothing is looked up again */
  readonly address: string
  readonly body: string
  /** the signature's, and others in lower case; `host` and `content-length` are added */
  readonly headers: Readonly<Record<string, string>>
  /** ends the attempt, when the service stops or the webhook is deleted */
  readonly signal?: AbortSignal
}

/** What an attempt works with; by default the clock and the timers of the process, and the certificate authorities of Node.js. */
export interface SendOptions {
  /** for the dates of `Retry-After` */
  readonly clock?: Clock
  readonly timers?: Timers
  /** a certificate authority that replaces Node.js's list, in PEM: for tests. No setting leads here. */
  readonly ca?: string
}

/** Why an attempt has no status, in words that may be shown and stored: they contain no part of the request or the response. */
export type SendError =
  | EndOfWaiting
  | 'connection refused'
  | 'connection reset'
  | 'address not reachable'
  | 'TLS handshake failed'
  | `certificate not valid: ${string}`
  | 'answer is not valid HTTP'
  | 'answer too long'
  | 'delivery failed'

/** What a receiver answered. */
export interface Answer {
  /** from 100 to 999. 2xx is success, and 3xx is a failure: redirects are not followed. */
  readonly status: number
  /** the seconds of `Retry-After`, at most a day; absent without a valid one (RFC 9110 §10.2.3) */
  readonly retryAfter?: number
}

/** Sends an attempt at a delivery with POST, on a connection of its own, without a proxy. */
export function send(delivery: Delivery, options: SendOptions = {}): Promise<Answer | { readonly error: SendError }> {
  const { clock = systemClock, timers = systemTimers } = options
  return new Promise((resolve) => {
    const bound = boundAnswer(BOUNDS, () => finish('answer too long'))
    const request = startRequest(delivery, { ...bound.options, ...(options.ca !== undefined && { ca: options.ca }) })
    bound.observe(request)
    // It stands, whatever becomes of the body.
    let answer: Answer | undefined
    const finish = (error: SendError): void => {
      stopWaiting()
      request.destroy()
      resolve(answer ?? { error })
    }
    const stopWaiting = limitTime({ milliseconds: TIME_LIMIT, timers, signal: delivery.signal }, finish)
    request.on('error', (error) => finish(errorOf(error, request.socket)))
    // Without an error: an answer that ended, or a connection that was closed.
    request.on('close', () => finish('connection reset'))
    request.on('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      answer = { status: statusCode! }
      finish('delivery failed')
    })
    request.on('response', (response) => {
      // A line like "HTTP/1.1 000" is parsed, and says nothing.
      if (response.statusCode! < 100) return finish('answer is not valid HTTP')
      answer = answerOf(response, clock)
      discard(response, () => finish('delivery failed'))
    })
    request.end(delivery.body)
  })
}

/** Starts a request to the address, in the name of the host: `Host`, SNI and the certificate have the name. */
function startRequest({ url, address, body, headers }: Delivery, options: http.RequestOptions): http.ClientRequest {
  const { protocol, hostname, host, port, pathname, search } = new URL(url)
  const isTls = protocol === 'https:'
  return (isTls ? https : http).request({
    method: 'POST',
    // An address: net.connect looks nothing up, so a name that answers differently now changes nothing.
    host: address,
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    path: pathname + search,
    headers: { 'content-type': 'application/json', ...headers, host, 'content-length': Buffer.byteLength(body) },
    // One that is made for this request: no connection is kept, and no proxy of the environment is used.
    agent: false,
    maxHeaderSize: MAX_HEADERS,
    insecureHTTPParser: false,
    // Stated, so that NODE_TLS_REJECT_UNAUTHORIZED changes nothing.
    rejectUnauthorized: true,
    // SNI has no addresses and no full stop at the end (RFC 6066 §3). With '', the certificate must have the address.
    servername: isIP(hostname.replace(/[[\]]/g, '')) !== 0 ? '' : hostname.replace(/\.$/, ''),
    ...options,
  })
}

/** Drops the body: a receiver that stops when its answer is not taken can end, and one that sends without end is left. */
function discard(response: http.IncomingMessage, onEnd: () => void): void {
  let read = 0
  response.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read >= MAX_ANSWER) onEnd()
  })
  response.on('end', onEnd)
  response.on('error', onEnd)
}

function answerOf({ statusCode, headers }: http.IncomingMessage, clock: Clock): Answer {
  const retryAfter = secondsOf(headers['retry-after'], clock)
  return { status: statusCode!, ...(retryAfter !== undefined && { retryAfter }) }
}

/** Reads `Retry-After`: seconds, or one of the three forms of a date (RFC 9110 §5.6.7). */
function secondsOf(text: string | undefined, clock: Clock): number | undefined {
  if (text === undefined) return undefined
  const isDate = /^[A-Z][a-z]{2,8},? [\w: -]+$/.test(text)
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : isDate
      ? // The form of asctime does not name its zone.
        Math.ceil((Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) - clock()) / 1000)
      : Number.NaN
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), DAY / 1000)
}

const ERRORS: Readonly<Record<string, SendError>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ETIMEDOUT: 'timed out',
  EHOSTUNREACH: 'address not reachable',
  ENETUNREACH: 'address not reachable',
  EADDRNOTAVAIL: 'address not reachable',
  EHOSTDOWN: 'address not reachable',
  EPROTO: 'TLS handshake failed',
}

function errorOf({ code = '' }: NodeJS.ErrnoException, socket: Socket | null): SendError {
  // Node.js sets it exactly when a certificate was refused. The message would have the names in the certificate.
  const isCertificate = socket instanceof TLSSocket && Boolean(socket.authorizationError)
  if (isCertificate) return `certificate not valid: ${/^[A-Z0-9_]{1,60}$/.test(code) ? code : 'UNKNOWN'}`
  if (code.startsWith('HPE_')) return 'answer is not valid HTTP'
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'TLS handshake failed'
  return ERRORS[code] ?? 'delivery failed'
}
