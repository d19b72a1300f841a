import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onceAnswered } from '../http/answered.ts'
import type { NodeHandler } from './protocol.ts'

/** The number of requests of one connection that are handled at the same time. */
const REQUESTS_PER_CONNECTION = 2
/** A connection with more requests that wait is not read until some of them were answered. */
const MAX_WAITING = 32

/**
 * Limits the requests of each connection that are handled at the same time. Others wait until responses have been sent:
 * a client that sends many requests at once and reads no response cannot fill the memory.
 */
export function limitRequests(handler: NodeHandler, limit = REQUESTS_PER_CONNECTION): NodeHandler {
  return (request, response) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) connections.set(socket, (connection = new Connection(socket, handler, limit)))
    connection.accept(request, response)
  }
}

/** Whether a connection has had requests, and all of them were answered. */
export function isIdle(socket: Socket): boolean {
  return connections.get(socket)?.isIdle === true
}

/** The requests of one connection, in the order in which they arrived. */
class Connection {
  readonly #socket: Socket
  readonly #handler: NodeHandler
  readonly #limit: number
  readonly #waiting: [IncomingMessage, ServerResponse][] = []
  #running = 0

  constructor(socket: Socket, handler: NodeHandler, limit: number) {
    this.#socket = socket
    this.#handler = handler
    this.#limit = limit
  }

  get isIdle(): boolean {
    return this.#running === 0
  }

  accept(request: IncomingMessage, response: ServerResponse): void {
    if (this.#running < this.#limit) return this.#start(request, response)
    this.#waiting.push([request, response])
    if (this.#waiting.length >= MAX_WAITING) this.#socket.pause()
  }

  #start(request: IncomingMessage, response: ServerResponse): void {
    this.#running++
    onceAnswered(this.#socket, response, () => this.#next())
    this.#handler(request, response)
  }

  #next(): void {
    this.#running--
    // The responses could not be sent.
    if (this.#socket.destroyed) this.#waiting.length = 0
    const next = this.#waiting.shift()
    if (next === undefined) return
    if (this.#waiting.length < MAX_WAITING) this.#socket.resume()
    this.#start(...next)
  }
}

const connections = new WeakMap<Socket, Connection>()
