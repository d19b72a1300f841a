import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

type Direction = 'to' | 'from'

interface Link {
  readonly client: Socket
  readonly server: Socket
  /** how many bytes may still pass, in both directions together, before it is cut */
  left: number
  /** what waits, by the direction that is held */
  readonly held: Map<Direction, Buffer[]>
}

/** A way to a server on the loopback interface that can go wrong as networks do. */
export class Proxy {
  /** how many bytes a connection that is made now may carry; Infinity where it is never cut */
  bytes: () => number = () => Infinity
  /** called when a connection has been cut for its bytes */
  onCut: (() => void) | undefined
  /** whether new connections are closed at once */
  refuses = false
  /** how many connections were cut in the middle of something */
  cuts = 0
  /** the server's port: another one counts for new connections */
  target: number
  readonly #server: Server
  readonly #links = new Set<Link>()

  private constructor(target: number) {
    this.target = target
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async open(target: number): Promise<Proxy> {
    const proxy = new Proxy(target)
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
  /** how many connections are open */
  get connections(): number {
    return this.#links.size
  }

  /** From now on nothing passes on the connections that there are: what is sent waits. New ones are as ever. */
  hold(direction: Direction): void {
    for (const { held } of this.#links) if (!held.has(direction)) held.set(direction, [])
  }

  /** Lets pass what was held, as the last that passes on its connection. Resolves when the server has had it all. */
  async release(): Promise<void> {
    const links = [...this.#links].filter(({ held }) => held.size > 0)
    await Promise.all(
      links.map(async ({ client, server, held }) => {
        for (const [direction, waiting] of held) for (const chunk of waiting) (direction === 'to' ? server : client).write(chunk)
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
    const link: Link = { client, server, left: this.bytes(), held: new Map() }
    this.#links.add(link)
    this.#pass(link, 'to', client, server)
    this.#pass(link, 'from', server, client)
  }

  #pass(link: Link, direction: Direction, source: Socket, target: Socket): void {
    source.on('data', (chunk: Buffer) => {
      const waiting = link.held.get(direction)
      if (waiting !== undefined) return void waiting.push(chunk)
      const part = chunk.subarray(0, link.left)
      link.left -= part.length
      if (link.left > 0) return void target.write(part)
      this.cuts++
      // The part before the cut arrives: so the server may have been told all of it, and only its answer is lost.
      target.write(part, () => this.#cut(link))
      this.onCut?.()
    })
    // What is held stays held when the one who sent it goes: it is on its way.
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
