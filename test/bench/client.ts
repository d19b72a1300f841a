import { Agent, request } from 'node:http'

/** A request of the benchmark. */
export interface BenchRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Sends requests over a few connections that stay open. */
export class Client {
  readonly connections: number
  readonly #agent: Agent
  readonly #origin: string
  readonly #token: string

  constructor(origin: string, token: string, connections = 8) {
    this.connections = connections
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
    this.#origin = origin
    this.#token = token
  }

  /** Sends a request. @returns the body @throws {Error} if it is refused: refusals are cheap, and would make a service look fast */
  send({ method, path, body }: BenchRequest): Promise<string> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = { authorization: `Bearer ${this.#token}`, ...(text !== undefined && { 'content-type': 'application/json' }) }
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#origin}${path}`, { method, agent: this.#agent, headers }, (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => (received += part))
        response.on('end', () =>
          response.statusCode! < 300 ? resolve(received) : reject(new Error(`${method} ${path}: ${response.statusCode} ${received}`)),
        )
      })
      sent.on('error', reject)
      sent.end(text)
    })
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
