import type { ServerResponse } from 'node:http'
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

/** A signal that is aborted when the client of a request leaves, and at the latest when it was answered. */
export function clientSignal(request: ServerRequest): AbortSignal {
  const node = request.runtime?.node
  if (node?.res === undefined) return request.signal
  const controller = new AbortController()
  onceAnswered(node.req.socket as Socket, node.res as ServerResponse, () => controller.abort())
  return controller.signal
}
