import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ServerRequest } from 'srvx'
import { ApiError } from '../model/errors.ts'

/**
 * Reads a request's body into memory.
 * @param maxBytes a larger body is refused as soon as its announced or received size exceeds this
 * @throws {ApiError} `payload_too_large`; `bad_request` if the client closed the connection
 */
export function readBody(request: ServerRequest, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > maxBytes) return Promise.reject(tooLarge('body', maxBytes))
  const node = nodeOf(request)
  if (node !== undefined) continueIfExpected(request, node)
  // What fails after a refusal is of no interest.
  return collect(node ?? Readable.from(bodyOf(request)).on('error', () => undefined), maxBytes)
}

function nodeOf({ runtime }: ServerRequest): IncomingMessage | undefined {
  return runtime?.node?.req as IncomingMessage | undefined
}

export function tooLarge(what: 'body' | 'file', maxBytes: number): ApiError {
  return new ApiError('payload_too_large', {
    message: `The ${what} is larger than ${maxBytes} bytes.`,
    members: { limit_bytes: maxBytes },
    headers: { connection: 'close' },
  })
}

function incomplete(): ApiError {
  return new ApiError('bad_request', { message: 'The body is incomplete.' })
}

/** Reads the body from a connection. Its async iterator would cost more CPU time than all the rest of the input. */
function collect(node: Readable, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const stop = (): void => void node.off('data', onData).off('end', onEnd).off('error', onFailure).off('close', onFailure)
    const onData = (chunk: Uint8Array): void => {
      chunks.push(chunk)
      size += chunk.byteLength
      if (size <= maxBytes) return
      stop()
      // The rest is discarded.
      node.resume()
      reject(tooLarge('body', maxBytes))
    }
    const onEnd = (): void => {
      stop()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    }
    const onFailure = (): void => {
      stop()
      reject(incomplete())
    }
    // The client left before: no event will follow.
    if (node.destroyed) return onFailure()
    node.on('data', onData).on('end', onEnd).on('error', onFailure).on('close', onFailure)
  })
}

/** Sends `100 Continue` if the client waits for it. A client of HTTP/1.0 does not understand an interim response (RFC 9110 §10.1.1). */
function continueIfExpected({ runtime }: ServerRequest, { httpVersion, headers }: IncomingMessage): void {
  if (httpVersion !== '1.1' || headers.expect?.toLowerCase() !== '100-continue') return
  const response = runtime!.node!.res as ServerResponse
  // It is only for a refusal without reading the body.
  response.removeHeader('connection')
  response.writeContinue()
}

/** Streams the bytes of a body. If a consumer stops early, the rest is read and discarded. */
export async function* bodyOf(request: ServerRequest): AsyncGenerator<Uint8Array> {
  const node = nodeOf(request)
  try {
    if (node !== undefined) continueIfExpected(request, node)
    const chunks = node === undefined ? (request.body ?? []) : node.iterator({ destroyOnReturn: false })
    for await (const chunk of chunks) yield chunk as Uint8Array
  } catch {
    throw incomplete()
  } finally {
    // Node does not do this after a part was read. The connection could not be used for another request.
    node?.resume()
  }
}
