import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { inTime } from '../support/in-time.ts'

/** A receiver that reads requests and answers with any bytes. */
export interface Receiver {
  readonly port: number
  /** the requests that have arrived completely, as text */
  readonly requests: string[]
  /** the connections, the last one at the end */
  readonly sockets: Socket[]
  /** resolves when this many requests have arrived */
  arrived(count: number): Promise<void>
  /** resolves when all connections are closed */
  closed(): Promise<void>
  close(): void
}

export interface ReceiverOptions {
  readonly address?: string
  /** certificate and key in PEM: the receiver speaks TLS */
  readonly tls?: { readonly cert: string; readonly key: string; readonly maxVersion?: 'TLSv1.2' }
  /** what it does with a connection, before it reads */
  readonly onConnection?: (socket: Socket) => void
}

/** Starts a receiver on a loopback address. @param answer what it does when it has a complete request */
export async function startReceiver(answer: (socket: Socket, request: string) => void, options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: string[] = []
  const sockets: Socket[] = []
  // With TLS, also connections that never make a request.
  const connections: Socket[] = []
  const waiting = new Set<() => void>()
  const changed = (): void => waiting.forEach((check) => check())
  const until = (isSo: () => boolean, what: string): Promise<void> => {
    const change = new Promise<void>((resolve) => {
      const check = (): void => void (isSo() && (waiting.delete(check), resolve()))
      waiting.add(check)
      check()
    })
    return inTime(change, () => `${what}; requests: ${JSON.stringify(requests)}`)
  }
  const connect = (connection: Socket): void => {
    connections.push(connection)
    connection.on('close', changed)
  }
  const listen = (socket: Socket): void => {
    sockets.push(socket)
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
      const length = /^content-length: (\d+)/im.exec(text)?.[1]
      const end = text.indexOf('\r\n\r\n') + 4
      if (end < 4 || text.length < end + Number(length)) return
      requests.push(text)
      answer(socket, text)
      text = ''
      changed()
    })
    // Senders end connections while a receiver writes.
    socket.on('error', () => {})
    options.onConnection?.(socket)
  }
  const server: Server =
    options.tls === undefined ? createServer(listen) : createTlsServer(options.tls, listen).on('tlsClientError', () => {})
  server.on('connection', connect).listen(0, options.address ?? '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    sockets,
    arrived: (count) => until(() => requests.length >= count, `${count} requests have not arrived`),
    closed: () => until(() => connections.length > 0 && connections.every(({ destroyed }) => destroyed), 'a connection is still open'),
    close: () => {
      for (const connection of connections) connection.destroy()
      server.close()
    },
  }
}
