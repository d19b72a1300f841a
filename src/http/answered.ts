import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ServerRequest } from 'srvx'

/** What is to be called when a connection closes. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls a function once: when a response has been sent, or when its connection has closed. A response that waits behind
 * others has no event for the end of its connection.
 */
export function onceAnswered(socket: Socket, response: ServerResponse, done: () => void): void {
  const pending = waiting.get(socket) ?? watch(socket)
  const finish = (): void => {
    if (!pending.delete(finish)) return
    response.off('close', finish)
    done()
  }
  pending.add(finish)
  if (socket.destroyed || response.closed) finish()
  else response.on('close', finish)
}

function watch(socket: Socket): Set<() => void> {
  const pending = new Set<() => void>()
  waiting.set(socket, pending)
  socket.once('close', () => {
    for (const finish of pending) finish()
  })
  return pending
}

/** Calls a function when the response to a request has been sent, or now if the request came over no connection. */
export function whenAnswered({ runtime }: ServerRequest, done: () => void): void {
  const node = runtime?.node as { req: IncomingMessage; res?: ServerResponse } | undefined
  if (node?.res === undefined) done()
  else onceAnswered(node.req.socket, node.res, done)
}

/** A signal that is aborted when the client of a request leaves, and at the latest when it was answered. */
export function clientSignal(request: ServerRequest): AbortSignal {
  if (request.runtime?.node?.res === undefined) return request.signal
  const controller = new AbortController()
  whenAnswered(request, () => controller.abort())
  return controller.signal
}
