import type { Server } from 'node:http'
import { isIPv6, type AddressInfo } from 'node:net'
import type { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { listen } from 'listhen'
import { speakEnvelope, type NodeHandler } from './protocol.ts'

/** A service that listens. */
export interface Listener {
  /** the origin, without /v1 */
  readonly url: string
  readonly port: number
  /** Takes no more connections, lets requests in flight end, and resolves once all is closed. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** 0: any that is free */
  readonly port: number
  readonly host: string
  /** how long requests in flight are waited for, in milliseconds */
  readonly grace?: number
}

/** The address cannot be listened on. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen'
}

/**
 * Listens, under listhen. Its conveniences are all off: it would take another port where one is busy or
 * unsafe, "localhost" where a host is public or mistyped, and exit at once on a signal.
 * @throws {CannotListen} where it cannot be on just this host and port
 */
export async function startListener(h3: H3, { port, host, grace = 10_000 }: ListenOptions): Promise<Listener> {
  const handler = toNodeHandler(h3) as NodeHandler
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
    throw new CannotListen(`cannot listen on port ${port}: browsers refuse it as unsafe, and listhen with them`)
  }
  // listhen counts requests to be able to kill them, and its counter throws where a body is refused early.
  server.removeAllListeners('request')
  speakEnvelope(server, handler)
  const name = anywhere ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host
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
