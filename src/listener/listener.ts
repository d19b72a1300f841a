import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { isIPv6, type AddressInfo } from 'node:net'
import type { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { limitRequests } from './connection-limits.ts'
import { speakEnvelope, type NodeHandler } from './protocol.ts'
import { dropSlowClients } from './slow-clients.ts'

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
  /** the time in milliseconds after which a response is dropped if its client reads nothing of it; default: {@link SEND_TIMEOUT} */
  readonly sendTimeout?: number
}

/** How long a client may read nothing of its response, in milliseconds. */
const SEND_TIMEOUT = 30_000

/** The service cannot listen on this address. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

/** Starts a listener. @throws {CannotListen} if it cannot listen on exactly this host and port */
export async function startListener(h3: H3, { port, host, grace = 10_000, sendTimeout = SEND_TIMEOUT }: ListenOptions): Promise<Listener> {
  const server = createServer()
  speakEnvelope(server, limitRequests(toNodeHandler(h3) as NodeHandler))
  dropSlowClients(server, sendTimeout)
  server.listen(port, host)
  await once(server, 'listening').catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new CannotListen(`cannot listen on ${host}, port ${port}: ${code === 'EADDRINUSE' ? 'the port is taken' : message}`)
  })
  const { port: taken } = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host
  return { url: `http://${name}:${taken}`, port: taken, close: () => close(server, grace) }
}

async function close(server: Server, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), 20)
  const force = setTimeout(() => server.closeAllConnections(), grace)
  await closed
  clearInterval(idle)
  clearTimeout(force)
}
