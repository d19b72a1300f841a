import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

/** A request of the benchmark. */
export interface BenchRequest {
  readonly method: string
  readonly path: string
  /** sent as JSON */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends requests over a few connections that stay open. */
export class Client {
  readonly connections: number
  readonly origin: string
  readonly #agent: Agent
  readonly #token: string

  constructor(origin: string, token: string, connections = 8) {
    this.connections = connections
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
    this.origin = origin
    this.#token = token
  }

  /** Sends a request. @returns the body @throws {Error} if it is refused: refusals are cheap, and would make a service look fast */
  async send({ method, path, body, headers: further }: BenchRequest): Promise<string> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const entity = bytes && { 'content-type': 'application/json', 'content-length': bytes.length }
    const headers = { authorization: `Bearer ${this.#token}`, ...entity, ...further }
    const sent = request(`${this.origin}${path}`, { method, agent: this.#agent, headers }).end(bytes)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const received = await text(response)
    if (response.statusCode! >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${received}`)
    return received
  }

  /** Sends `count` requests, each connection one after the other. */
  async sendAll(count: number, next: () => BenchRequest): Promise<void> {
    let sent = 0
    const lane = async (): Promise<void> => {
      while (sent++ < count) await this.send(next())
    }
    await Promise.all(Array.from({ length: this.connections }, lane))
  }

  close(): void {
    this.#agent.destroy()
  }
}
