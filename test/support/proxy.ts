import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** The direction of data: to or from the server. */
type Direction = 'to' | 'from'

interface Link {
  readonly client: Socket
  readonly server: Socket
  /** bytes that may still pass, in both directions together, before the link is cut */
  remaining: number
  /** the data that is held back, by direction */
  readonly held: Map<Direction, Buffer[]>
}

/** A TCP proxy to a server on the loopback interface that simulates network faults. */
export class TcpProxy {
  /** how many bytes a new connection may carry before it is cut; Infinity: it is never cut */
  bytes: () => number = () => Infinity
  /** called when a connection has been cut because of its bytes */
  onCut: (() => void) | undefined
  /** whether new connections are closed immediately */
  refuses = false
  /** number of connections that were cut because of their bytes */
  cuts = 0
  /** the port of the server; a change applies to new connections */
  target: number
  readonly #server: Server
  readonly #links = new Set<Link>()

  private constructor(target: number) {
    this.target = target
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async open(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }
  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Holds back all data of the existing connections in one direction. New connections are not affected. */
  hold(direction: Direction): void {
    for (const { held } of this.#links) if (!held.has(direction)) held.set(direction, [])
  }

  /** Delivers the held data and then ends those connections. Resolves when the server has received everything. */
  async release(): Promise<void> {
    const links = [...this.#links].filter(({ held }) => held.size > 0)
    await Promise.all(
      links.map(async ({ client, server, held }) => {
        for (const [direction, chunks] of held) for (const chunk of chunks) (direction === 'to' ? server : client).write(chunk)
        held.clear()
        server.end()
        if (!server.destroyed) await once(server, 'close')
      }),
    )
  }

  /** Cuts all connections. */
  cut(): void {
    for (const link of this.#links) this.#cut(link)
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined)
    if (this.refuses) return void client.destroy()
    const server = connect(this.target, '127.0.0.1')
    server.on('error', () => client.destroy())
    const link: Link = { client, server, remaining: this.bytes(), held: new Map() }
    this.#links.add(link)
    this.#forward(link, 'to', client, server)
    this.#forward(link, 'from', server, client)
  }

  #forward(link: Link, direction: Direction, source: Socket, target: Socket): void {
    source.on('data', (chunk: Buffer) => {
      const held = link.held.get(direction)
      if (held !== undefined) return void held.push(chunk)
      const part = chunk.subarray(0, link.remaining)
      link.remaining -= part.length
      if (link.remaining > 0) return void target.write(part)
      this.cuts++
      // The data before the cut arrives. The server may thus execute a command whose reply is lost.
      target.write(part, () => this.#cut(link))
      this.onCut?.()
    })
    // Held data stays held when its sender closes the connection: it is still in the network.
    source.on('close', () => {
      if (link.held.has(direction)) return
      target.end()
      if (target.destroyed) this.#links.delete(link)
    })
  }

  #cut(link: Link): void {
    link.client.destroy()
    link.server.destroy()
    this.#links.delete(link)
  }
}
