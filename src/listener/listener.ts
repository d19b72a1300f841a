import type { Server, ServerResponse } from 'node:http'
import { isIPv6, type AddressInfo, type Socket } from 'node:net'
import type { H3 } from 'h3'
import { listen } from 'listhen'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { CompressibleResponse } from '../http/compression.ts'
import { andThen } from '../model/awaitable.ts'
import { refusedPorts } from '../model/ports.ts'
import { limitRequests, isIdle } from './connection-limits.ts'
import { speakEnvelope, type NodeHandler } from './protocol.ts'
import { discardRest, hasBody } from './unread-body.ts'

/** A running listener. */
export interface Listener {
  /** the origin, without /v1 */
  readonly url: string
  readonly port: number
  /** Stops accepting connections, waits for the requests in flight, and resolves when all connections are closed. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** 0 chooses a free port */
  readonly port: number
  readonly host: string
  /** the time in milliseconds to wait for the requests in flight */
  readonly grace?: number
  /** milliseconds until a response is dropped if its client reads nothing of it; default: {@link SEND_TIMEOUT} */
  readonly sendTimeout?: number
  /** how many connections may be open at once; default: as many as the system allows */
  readonly maxConnections?: number | undefined
  /** is called for each connection beyond that, which is closed */
  readonly onRefused?: (() => void) | undefined
}

/** How long a client may read nothing of its response, in milliseconds. */
const SEND_TIMEOUT = 30_000

/** The service cannot listen on this address. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

/**
 * Starts a listener with listhen. Its automatic choices are off: it would choose another port if one is taken or unsafe,
 * "localhost" for a public or mistyped host, and exit immediately on a signal.
 * @throws {CannotListen} if it cannot listen on exactly this host and port
 */
export async function startListener(h3: H3, options: ListenOptions): Promise<Listener> {
  const { port, host, grace = 10_000, sendTimeout = SEND_TIMEOUT, maxConnections, onRefused } = options
  // In place of such a port, listhen would try 3000, and fail if that is taken.
  if (port !== 0 && refusedPorts.has(port)) throw new CannotListen(`cannot listen on port ${port}: browsers refuse it as unsafe`)
  const handler: NodeHandler = (req, res) =>
    andThen(h3.fetch(new NodeRequest({ req, res })), (response) => {
      if (hasBody(req)) discardRest(req)
      send(res, response)
    })
  const anywhere = host === '0.0.0.0' || host === '::'
  const exactly = { port, random: port === 0, ports: [], portRange: [], alternativePortRange: [], verbose: false }
  const listener = await listen(handler, {
    port: exactly as never,
    hostname: host,
    public: anywhere,
    autoClose: false,
    isProd: true,
    showURL: false,
    qr: false,
  }).catch((error: Error) => {
    throw new CannotListen(`cannot listen on ${host}, port ${port}: ${error.name === 'GetPortError' ? 'the port is taken' : error.message}`)
  })
  const server = listener.server as Server
  const address = server.address() as AddressInfo
  if (port !== 0 && address.port !== port) {
    server.close()
    throw new CannotListen(`cannot listen on port ${port}: browsers and listhen refuse it as unsafe`)
  }
  // listhen's request counter throws if a body is refused before it was read.
  server.removeAllListeners('request')
  speakEnvelope(server, limitRequests(handler))
  dropSlowClients(server, sendTimeout)
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  if (onRefused !== undefined) server.on('drop', onRefused)
  const name = anywhere ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host
  return { url: `http://${name}:${address.port}`, port: address.port, close: () => close(server, grace) }
}

/** Sends a response. Most are whole: to send those as streams are sent costs a tenth of their request. */
function send(to: ServerResponse, response: Response): void {
  try {
    if (response instanceof CompressibleResponse && response.sendTo(to)) return
    sendNodeResponse(to, response).catch(() => to.destroy())
  } catch {
    to.destroy()
  }
}

async function close(server: Server, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), 20)
  const force = setTimeout(() => server.closeAllConnections(), grace)
  await closed
  clearInterval(idle)
  clearTimeout(force)
}

/** How many times a connection is looked at before it is dropped. */
const LOOKS = 10

/** What a connection had sent and received when it was last looked at. */
interface Look {
  /** in milliseconds */
  readonly at: number
  readonly progress: string
  /** the number of looks since there was progress */
  readonly unchanged: number
}

/**
 * Closes a connection whose client reads nothing of a response, so that the response does not stay in memory. One that waits for the
 * service itself stays open.
 *
 * Node reports a connection that has sent and received no byte for some time. If a part of a write was sent before that, it waits
 * once more for as long. So it is asked for a tenth of the time, again and again: a connection is closed at most two tenths too late.
 */
export function dropSlowClients(server: Pick<Server, 'setTimeout'>, timeout: number, now: () => number = () => performance.now()): void {
  const period = timeout / LOOKS
  const looks = new WeakMap<Socket, Look>()
  server.setTimeout(period, (socket) => {
    if (isIdle(socket)) return void socket.destroy()
    if (socket.writableLength === 0) return
    const look = lookAt(socket, now(), looks.get(socket), period)
    if (look.unchanged >= LOOKS) return void socket.destroy()
    looks.set(socket, look)
    // Otherwise it would be reported only once.
    socket.setTimeout(period)
  })
}

/** @param last undefined: this is the first look at the connection */
function lookAt(socket: Socket, at: number, last: Look | undefined, period: number): Look {
  const progress = [socket.writableLength, socket.bytesWritten, socket.bytesRead].join(' ')
  // Two periods: a part of a write was sent in between.
  const isUnchanged = last !== undefined && last.progress === progress && at - last.at < 1.75 * period
  return { at, progress, unchanged: isUnchanged ? last.unchanged + 1 : 1 }
}
