import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ServerRequest } from 'srvx'

const WAITING = Symbol('waiting')
const OPEN = Symbol('open')

/** A response, with the callbacks for when it was sent or its connection has closed. A map of all of them would cost garbage collection. */
type WatchedResponse = ServerResponse & { [WAITING]?: (() => void)[] }
/** A connection, with its responses that were not sent yet. */
type WatchedSocket = Socket & { [OPEN]?: Set<WatchedResponse> }

/**
 * Calls a function once: when a response has been sent, or when its connection has closed. A response that waits behind
 * others has no event for the end of its connection.
 */
export function onceAnswered(socket: WatchedSocket, response: WatchedResponse, done: () => void): void {
  if (socket.destroyed || response.closed) return done()
  const waiting = response[WAITING]
  if (waiting !== undefined) return void waiting.push(done)
  response[WAITING] = [done]
  ;(socket[OPEN] ?? watch(socket)).add(response)
  response.on('close', onClose)
}

/** One function for all responses. */
function onClose(this: WatchedResponse): void {
  ;(this.req.socket as WatchedSocket)[OPEN]!.delete(this)
  finish(this)
}

function finish(response: WatchedResponse): void {
  const waiting = response[WAITING]!
  response[WAITING] = []
  for (const done of waiting) done()
}

function watch(socket: WatchedSocket): Set<WatchedResponse> {
  const responses = new Set<WatchedResponse>()
  socket[OPEN] = responses
  socket.once('close', () => {
    for (const response of responses) finish(response)
  })
  return responses
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
